import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeClip } from './media-fixtures';

/** The size that must be refused before a decoder sets aside memory for it. */
export const ABSURD_SIDE = 64_250;

/** Writes `content` under a name of its own in a fresh temporary folder. */
export async function writeTemporary(name: string, content: string | Buffer): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'hostile-'));
  temporaryDirs.push(dir);
  const path = join(dir, name);
  await writeFile(path, content);
  return path;
}

/** For `afterAll` of whoever has used `writeTemporary`. */
export async function removeTemporaries(): Promise<void> {
  for (const dir of temporaryDirs.splice(0)) await rm(dir, { recursive: true, force: true });
}

const temporaryDirs: string[] = [];

/** Texts that make a demuxer open other files or hosts; all are handed in as `.mp4`. */
export function playlistsPointingAt(target: string): Readonly<Record<string, string>> {
  return {
    'HLS playlist': `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${target}\n#EXT-X-ENDLIST\n`,
    ffconcat: `ffconcat version 1.0\nfile '${target}'\n`,
    'concat without its name': `file '${target}'\nduration 1\n`,
    DASH: `<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S"><Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1"><BaseURL>${target}</BaseURL></Representation></AdaptationSet></Period></MPD>\n`,
    SDP: `v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n`,
    SMIL: `<smil><body><video src="${target}"/></body></smil>`,
    'playlist behind a BOM': `\ufeff#EXTM3U\n#EXTINF:1,\n${target}\n`,
  };
}

/** Files of each container whose header claims 64250 x 64250 pixels. */
export async function makeAbsurdlyLarge(): Promise<Readonly<Record<string, string>>> {
  const source = 'testsrc2=s=64x48:r=10:d=0.5';
  const picture = { video: 'testsrc2=s=64x48:r=1:d=1', options: ['-frames:v', '1'] };
  const mp4 = await readFile(await makeClip({ video: source }));
  mp4.writeUInt16BE(ABSURD_SIDE, mp4.indexOf('avc1', mp4.indexOf('stsd')) + 28);
  mp4.writeUInt16BE(ABSURD_SIDE, mp4.indexOf('avc1', mp4.indexOf('stsd')) + 30);
  const png = await readFile(await makeClip({ ...picture, extension: 'png' }));
  png.writeUInt32BE(ABSURD_SIDE, 16);
  png.writeUInt32BE(ABSURD_SIDE, 20);
  const jpeg = await readFile(await makeClip({ ...picture, extension: 'jpg' }));
  const frameHeader = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
  jpeg.writeUInt16BE(ABSURD_SIDE, frameHeader + 5);
  jpeg.writeUInt16BE(ABSURD_SIDE, frameHeader + 7);
  return {
    mp4: await writeTemporary('a.mp4', mp4),
    png: await writeTemporary('a.png', png),
    jpeg: await writeTemporary('a.jpg', jpeg),
    webp: await writeTemporary('a.webp', extendedWebp()),
    webm: await writeTemporary('a.webm', await enlargedWebm()),
  };
}

function extendedWebp(): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(56, 4);
  bytes.write('WEBPVP8X', 8, 'latin1');
  bytes.writeUInt32LE(10, 16);
  bytes.writeUIntLE(ABSURD_SIDE - 1, 24, 3);
  bytes.writeUIntLE(ABSURD_SIDE - 1, 27, 3);
  return bytes;
}

/** PixelWidth (0xB0) and PixelHeight (0xBA) of 16 bits, as a clip of 320 x 256 has them. */
async function enlargedWebm(): Promise<Buffer> {
  const path = await makeClip({
    video: 'testsrc2=s=320x256:r=10:d=0.5',
    options: ['-c:v', 'libvpx-vp9', '-b:v', '100k', '-deadline', 'realtime'],
    extension: 'webm',
  });
  const webm = await readFile(path);
  webm.writeUInt16BE(ABSURD_SIDE, webm.indexOf(Buffer.from([0xb0, 0x82, 0x01, 0x40])) + 2);
  webm.writeUInt16BE(ABSURD_SIDE, webm.indexOf(Buffer.from([0xba, 0x82, 0x01, 0x00])) + 2);
  return webm;
}
