/** What a metrics collector reads of this process. */
export interface MetricsPage {
  readonly contentType: string;
  text(): Promise<string>;
}
