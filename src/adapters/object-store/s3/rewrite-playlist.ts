/** Larger is no playlist of ours; it is sent to the store like any other file. */
export const PLAYLIST_BYTES_MAX = 2 * 2 ** 20;

export const isPlaylist = (key: string): boolean => key.endsWith('.m3u8');

/**
 * Puts a signed URL in the place of each relative link to a media file. Links to other playlists stay as they are: they come
 * back here and are rewritten in turn. Absolute links are not ours.
 * @param sign answers the URL of a path relative to the playlist; null leaves the link alone
 */
export const rewritePlaylist = async (
  text: string,
  sign: (relative: string) => Promise<string | null>,
): Promise<string> => {
  if (!text.startsWith('#EXTM3U')) return text;
  // One file may stand in many lines, as byte ranges do: it is signed once.
  const signed = new Map<string, Promise<string | null>>();
  const replace = async (link: string): Promise<string> => {
    if (link === '' || /^[a-z][a-z0-9+.-]*:|^\//i.test(link) || isPlaylist(link)) return link;
    const known = signed.get(link) ?? sign(link);
    signed.set(link, known);
    return (await known) ?? link;
  };
  const lines = await Promise.all(
    text.split('\n').map(async (line) => {
      const end = line.endsWith('\r') ? '\r' : '';
      const content = line.trimEnd();
      if (!content.startsWith('#')) return `${await replace(content)}${end}`;
      const uri = /\bURI="([^"]*)"/.exec(content)?.[1];
      if (uri === undefined) return line;
      const replaced = await replace(uri);
      return `${content.replace(`URI="${uri}"`, () => `URI="${replaced}"`)}${end}`;
    }),
  );
  return lines.join('\n');
};
