import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Derivative } from '../../ports/media-toolkit';
import { commandFor, describeFile, runCommand, type DeriveRun } from './derive-run';

const FILE_NAME = 'waveform.json';
const SAMPLE_RATE = 8000;
const SAMPLES_PER_PEAK_MIN = 80;
const PEAKS_MAX = 2000;
const SAMPLE_MAX = 32_768;

/** Loudness over time as JSON peaks, for drawing; null when there is no audio. */
export async function makeWaveform(run: DeriveRun): Promise<Derivative | null> {
  if (run.streams.audioCodec === null) return null;
  const durationS = (run.facts.durationMs ?? 0) / 1000;
  const samplesPerPeak = Math.max(
    SAMPLES_PER_PEAK_MIN,
    Math.ceil((durationS * SAMPLE_RATE) / PEAKS_MAX),
  );
  const meter = new PeakMeter(samplesPerPeak);
  const command = commandFor(run)
    .output('pipe:1')
    .outputOptions('-map', '0:a:0', '-vn', '-ac', '1', '-ar', String(SAMPLE_RATE))
    .outputOptions('-c:a', 'pcm_s16le', '-f', 's16le');
  await runCommand(run, command, (chunk) => meter.add(chunk));
  const waveform = { version: 1, sampleRate: SAMPLE_RATE, samplesPerPeak, peaks: meter.finish() };
  await writeFile(join(run.workDir, FILE_NAME), JSON.stringify(waveform));
  return {
    kind: 'WAVEFORM',
    entry: FILE_NAME,
    files: [await describeFile(run, FILE_NAME, 'application/json')],
    facts: { width: null, height: null, durationMs: run.facts.durationMs, frameRate: null },
  };
}

/** Takes 16-bit little-endian samples in chunks of any length and keeps the largest of each span. */
class PeakMeter {
  private readonly peaks: number[] = [];
  private samples = 0;
  private largest = 0;
  private oddByte: number | null = null;

  constructor(private readonly samplesPerPeak: number) {}

  add(chunk: Buffer): void {
    const bytes = this.oddByte === null ? chunk : Buffer.concat([Buffer.of(this.oddByte), chunk]);
    const whole = bytes.length - (bytes.length % 2);
    for (let offset = 0; offset < whole; offset += 2) this.addSample(bytes.readInt16LE(offset));
    this.oddByte = whole < bytes.length ? (bytes[whole] ?? null) : null;
  }

  finish(): number[] {
    if (this.samples > 0) this.close();
    return this.peaks;
  }

  private addSample(sample: number): void {
    this.largest = Math.max(this.largest, Math.abs(sample));
    this.samples += 1;
    if (this.samples === this.samplesPerPeak) this.close();
  }

  private close(): void {
    this.peaks.push(Math.round((this.largest / SAMPLE_MAX) * 1000) / 1000);
    this.samples = 0;
    this.largest = 0;
  }
}
