import type { Response } from 'express';

/** Every error of this provider has this form: `{error: {code, message}, …}`. */
export function sendError(
  response: Response,
  status: number,
  code: string,
  message: string,
  extra: Readonly<Record<string, unknown>> = {},
): void {
  response.status(status).json({ error: { code, message }, ...extra });
}
