/** Where notices and warnings go. `console` fits, and so does a pino logger. */
export interface NoticeLog {
  info(message: string): void;
  warn(message: string): void;
}
