import type { GenerationReport } from './operations';

/** Timeline, attempts and ledger as plain tables. */
export const printReport = (report: GenerationReport, print: (line: string) => void): void => {
  const start = new Date(report.createdAt).getTime();
  print('\nTimeline');
  for (const event of report.events) {
    const at = ((new Date(event.observedAt).getTime() - start) / 1000).toFixed(2).padStart(7);
    const ignored = event.ignoredReason === null ? '' : `  (ignored: ${event.ignoredReason})`;
    print(
      `  ${at} s  v${String(event.version).padEnd(3)} ${event.toStatus.padEnd(16)} ${event.type} by ${event.source}${ignored}`,
    );
  }
  print('\nAttempts');
  for (const attempt of report.attempts) {
    const cost =
      attempt.cost === null ? 'unknown' : `${attempt.cost.amount} ${attempt.cost.currency}`;
    print(
      `  #${attempt.number} ${attempt.provider} ${attempt.model} job ${attempt.jobId ?? '-'} ${attempt.status} ${attempt.errorClass ?? ''} cost ${cost}`,
    );
  }
  print('\nLedger (credits)');
  for (const entry of report.ledgerEntries) {
    print(
      `  ${entry.kind.padEnd(8)} ${entry.amount.padStart(8)}   available ${entry.availableChange.padStart(6)}   held ${entry.heldChange.padStart(6)}   ${entry.reason}`,
    );
  }
  if (report.failure !== null) {
    const { code, message, money } = report.failure;
    print(`\nFailure: ${code}: ${message}`);
    print(`  held ${money.held}, charged ${money.charged}, returned ${money.returned}`);
  }
};

/** What is missing for the demo to have succeeded; empty when nothing is. */
export const shortfallsOf = (report: GenerationReport): string[] => {
  const count = (kind: string): number =>
    report.ledgerEntries.filter((entry) => entry.kind === kind).length;
  return [
    ...(report.status === 'SUCCEEDED' ? [] : [`the generation ended ${report.status}`]),
    ...(report.playback === null ? ['there is nothing to play'] : []),
    ...(report.playback !== null && report.playback.hlsUrl === null ? ['there is no HLS'] : []),
    ...(count('RESERVE') === 1 ? [] : [`${count('RESERVE')} RESERVE entries instead of 1`]),
    ...(report.status !== 'SUCCEEDED' || count('SETTLE') === 1
      ? []
      : [`${count('SETTLE')} SETTLE entries instead of 1`]),
  ];
};
