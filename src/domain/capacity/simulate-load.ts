import { createAgenda } from './agenda';
import { createShareDraw, drawDurationS, drawGapS, isWithin, type Random } from './draw';
import { createLine, type Job } from './line';
import { createTally } from './tally';
import type { Scenario, Simulated, SimulatedProvider } from './scenario';

type Happening =
  | { readonly kind: 'ARRIVAL' }
  /** The slot comes free: by the job's end as it became known. */
  | { readonly kind: 'JOB_KNOWN'; readonly job: Job; readonly succeeded: boolean }
  | { readonly kind: 'RETRY'; readonly job: Job }
  | { readonly kind: 'DEADLINE'; readonly job: Job }
  | { readonly kind: 'MEDIA_DONE'; readonly job: Job }
  | { readonly kind: 'PROVIDER_BACK' }
  | { readonly kind: 'BUCKET' };

/**
 * Arrivals, admission, submits, failures, polling and media as discrete events, in the order that the scheduler's own query has
 * (priority, then the tenant with the least in flight, then who waits longest). An operator sees from it how old a queue becomes
 * before it does. The same scenario and numbers give the same answer. What it leaves out: the time that the platform's own
 * steps take, which are milliseconds beside minutes.
 */
export const simulateLoad = (scenario: Scenario, random: Random, bucketCount = 12): Simulated => {
  const agenda = createAgenda<Happening>();
  const line = createLine(scenario);
  const tally = createTally(scenario, bucketCount);
  const drawProvider = createShareDraw(scenario.providers, random);
  const drawTenant = createShareDraw(scenario.tenants, random);
  const media: Job[] = [];
  let mediaBusy = 0;
  let nowS = 0;

  const rateAt = (atS: number): number =>
    scenario.bursts
      .filter((burst) => isWithin(burst, atS))
      .reduce((rate, { factor }) => rate * factor, scenario.ratePerS);

  /** Thinning: candidates come at the highest rate, and only a part of them counts where the rate is lower. */
  const rateMost = Math.max(
    scenario.ratePerS,
    ...scenario.bursts.map(({ fromS }) => rateAt(fromS)),
  );

  const isOut = (provider: SimulatedProvider): boolean =>
    provider.outages.some((outage) => isWithin(outage, nowS));

  const serve = (): void => {
    for (let job = line.take(isOut); job !== null; job = line.take(isOut)) submit(job);
  };

  const submit = (job: Job): void => {
    tally.submitted(job, nowS, line.inFlight());
    const { provider } = job;
    const fails = random() < provider.failureShare;
    const unknown = random() < provider.unknownShare;
    const runsS = drawDurationS(provider.meanS, provider.spread, random);
    // A failure is told somewhere in the middle, on average half way.
    const endsS = nowS + (fails ? runsS * random() : runsS);
    const heardS = random() < scenario.callbackShare ? endsS : nextPoll(endsS);
    const knownS = unknown ? Math.max(heardS, nowS + scenario.unknownS) : heardS;
    agenda.enter(knownS, { kind: 'JOB_KNOWN', job, succeeded: !fails });
  };

  /** Polls go on from the submit at one interval. */
  const nextPoll = (endsS: number): number =>
    nowS + Math.ceil((endsS - nowS) / scenario.pollIntervalS) * scenario.pollIntervalS;

  const work = (): void => {
    while (mediaBusy < scenario.mediaWorkers) {
      const job = media.shift();
      if (job === undefined) return;
      mediaBusy += 1;
      tally.mediaBegan(job, nowS);
      agenda.enter(nowS + scenario.mediaS, { kind: 'MEDIA_DONE', job });
    }
  };

  const arrive = (): void => {
    const [provider, tenant] = [drawProvider(), drawTenant()];
    const job: Job = {
      tenant,
      provider,
      createdS: nowS,
      sinceS: nowS,
      tries: 0,
      fetchedS: 0,
      inLine: false,
    };
    tally.arrived();
    line.enter(job);
    agenda.enter(nowS + scenario.deadlineS, { kind: 'DEADLINE', job });
  };

  const jobKnown = (job: Job, succeeded: boolean): void => {
    line.leave(job);
    if (succeeded) {
      job.fetchedS = nowS;
      tally.fetched();
      media.push(job);
    } else if (job.tries >= scenario.triesMax) {
      tally.ended('failed', job, nowS);
    } else {
      agenda.enter(nowS + scenario.retryAfterS, { kind: 'RETRY', job });
    }
  };

  const happen = (what: Happening): void => {
    switch (what.kind) {
      case 'ARRIVAL': {
        agenda.enter(nowS + drawGapS(rateMost, random), { kind: 'ARRIVAL' });
        if (random() * rateMost < rateAt(nowS)) arrive();
        return;
      }
      case 'JOB_KNOWN':
        return jobKnown(what.job, what.succeeded);
      case 'RETRY': {
        if (nowS >= what.job.createdS + scenario.deadlineS) {
          return tally.ended('expired', what.job, nowS);
        }
        what.job.sinceS = nowS;
        return line.enter(what.job);
      }
      case 'DEADLINE': {
        if (line.remove(what.job)) tally.ended('expired', what.job, nowS);
        return;
      }
      case 'MEDIA_DONE': {
        mediaBusy -= 1;
        return tally.ended('succeeded', what.job, nowS);
      }
      case 'PROVIDER_BACK':
        return;
      case 'BUCKET':
        return tally.closeBucket({
          nowS,
          waiting: line.waiting(),
          oldestS: line.oldestS(nowS),
          inFlight: line.inFlight(),
          mediaWaiting: media.length,
        });
    }
  };

  agenda.enter(drawGapS(rateMost, random), { kind: 'ARRIVAL' });
  for (const { outages } of scenario.providers) {
    for (const { fromS, forS } of outages) agenda.enter(fromS + forS, { kind: 'PROVIDER_BACK' });
  }
  for (let bucket = 1; bucket <= bucketCount; bucket += 1) {
    agenda.enter((scenario.durationS * bucket) / bucketCount, { kind: 'BUCKET' });
  }
  for (let next = agenda.next(); next !== null && next.at <= scenario.durationS;) {
    tally.pass(next.at - nowS, line.inFlight());
    nowS = next.at;
    happen(next.what);
    serve();
    work();
    next = agenda.next();
  }
  return tally.result();
};
