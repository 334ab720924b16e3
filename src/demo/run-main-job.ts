import path from 'node:path';

import { createIdSource } from '../adapters/ids/uuid-ids';
import { dataOf, type GraphqlClient } from '../client/graphql-client';
import { GENERATION_CREATE, type UserError } from './operations';
import type { DemoOptions } from './options';
import { printReport, shortfallsOf } from './print-report';
import { saveResults } from './save-results';
import { refuseErrors, uploadPicture } from './upload-picture';
import { watchGeneration } from './watch-generation';

interface Voice {
  readonly print: (line: string) => void;
  /** With the time since the beginning before it. */
  readonly say: (line: string) => void;
}

/** From picture and prompt to files that play, told as it goes; answers what fell short. */
export const runMainJob = async (
  client: GraphqlClient,
  options: DemoOptions,
  { print, say }: Voice,
): Promise<string[]> => {
  const imageAssetId = await uploadPicture(client, options.image);
  say(`Uploaded ${path.basename(options.image)}: READY`);
  const id = await createGeneration(client, options, imageAssetId, say);
  const report = await watchGeneration(client, id, say);
  printReport(report, print);
  const shortfalls = shortfallsOf(report);
  if (report.playback !== null) {
    const saved = await saveResults(report.playback, options.outputDir, report.id);
    print(`\nPlay it\n  MP4  ${saved.mp4}`);
    if (saved.hlsMaster !== null) print(`  HLS  ${saved.hlsMaster}`);
    print(`  URL  ${report.playback.url} (while the product runs)`);
  }
  print('');
  return shortfalls;
};

const createGeneration = async (
  client: GraphqlClient,
  options: DemoOptions,
  imageAssetId: string,
  say: Voice['say'],
): Promise<string> => {
  const { generationCreate } = dataOf(
    await client.request<{
      generationCreate: {
        generation: { id: string; price: string } | null;
        userErrors: readonly UserError[];
      };
    }>(GENERATION_CREATE, {
      input: {
        idempotencyKey: createIdSource().secret(16),
        model: options.model,
        prompt: options.prompt,
        durationMs: options.durationMs,
        aspectRatio: options.aspectRatio,
        resolution: options.resolution,
        imageAssetId,
        ...(options.seed === null ? {} : { seed: options.seed }),
        ...(options.fault === null ? {} : { providerOptions: { fault: options.fault } }),
      },
    }),
  );
  refuseErrors('generation', generationCreate.userErrors);
  if (generationCreate.generation === null) throw new Error('The API created no generation');
  say(`Created ${generationCreate.generation.id} for ${generationCreate.generation.price} credits`);
  return generationCreate.generation.id;
};
