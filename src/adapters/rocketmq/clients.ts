import { Duplex } from 'node:stream';

import {
  FilterExpression,
  Producer,
  SimpleConsumer,
  SubscriptionLoadBalancer,
  type Endpoints,
  type MessageView,
  type TopicRouteData,
} from 'rocketmq-client-nodejs';

type TelemetryStream = ReturnType<Producer['createTelemetryStream']>;
type SettingsCommand = Parameters<Producer['onSettingsCommand']>;

const SETTINGS_AGAIN_MS = 50;

/**
 * The client's classes with what version 1.0.8 gets wrong: the stream it has given up has no listener for errors, so a late one
 * would end the process; a stream it renews after the shutdown is never closed; a shutdown stops half-way when no server answers;
 * and a start waits without an end for settings that came while it still asked for the routes of further topics. A consumer also chooses its topic, which the client takes in turn: a poll of an empty topic would hold up the other.
 */
export class SafeProducer extends Producer {
  #ended = false;

  override createTelemetryStream(endpoints: Endpoints): TelemetryStream {
    return this.#ended ? inert() : guarded(super.createTelemetryStream(endpoints));
  }

  override onSettingsCommand(...settings: SettingsCommand): void {
    super.onSettingsCommand(...settings);
    if (this.isRunning() || this.#ended) return;
    setTimeout(() => this.onSettingsCommand(...settings), SETTINGS_AGAIN_MS);
  }

  protected override getTotalRouteEndpoints(): Endpoints[] {
    return this.#ended ? [] : super.getTotalRouteEndpoints();
  }

  /** Asks the proxy for something, so that one who does not send hears whether it answers. */
  reach(): Promise<void> {
    return this.updateRoutes();
  }

  /** Message types that a topic takes, by the numbers of the protocol. */
  acceptedTypes(topic: string): readonly number[] {
    const [queue] = this.topicRouteCache.get(topic)?.messageQueues ?? [];
    return queue?.acceptMessageTypesList ?? [];
  }

  async end(): Promise<void> {
    await super.shutdown().catch(() => undefined);
    this.#ended = true;
    await super.shutdown();
  }
}

export class SafeConsumer extends SimpleConsumer {
  #ended = false;
  readonly #queues = new Map<string, SubscriptionLoadBalancer>();

  override createTelemetryStream(endpoints: Endpoints): TelemetryStream {
    return this.#ended ? inert() : guarded(super.createTelemetryStream(endpoints));
  }

  override onSettingsCommand(...settings: SettingsCommand): void {
    super.onSettingsCommand(...settings);
    if (this.isRunning() || this.#ended) return;
    setTimeout(() => this.onSettingsCommand(...settings), SETTINGS_AGAIN_MS);
  }

  protected override getTotalRouteEndpoints(): Endpoints[] {
    return this.#ended ? [] : super.getTotalRouteEndpoints();
  }

  protected override onTopicRouteDataUpdate(topic: string, route: TopicRouteData): void {
    super.onTopicRouteDataUpdate(topic, route);
    this.#queues.set(
      topic,
      this.#queues.get(topic)?.update(route) ?? new SubscriptionLoadBalancer(route),
    );
  }

  /** Waits up to `waitMs` for messages of one topic; they are ours for `invisibleMs`. */
  async receiveFrom(
    topic: string,
    tags: string,
    options: { readonly max: number; readonly invisibleMs: number; readonly waitMs: number },
  ): Promise<MessageView[]> {
    const queues =
      this.#queues.get(topic) ?? new SubscriptionLoadBalancer(await this.getRouteData(topic));
    const queue = queues.takeMessageQueue();
    if (queue === undefined) throw new Error(`Topic ${topic} has no queue that can be read`);
    const request = this.wrapReceiveMessageRequest(
      options.max,
      queue,
      new FilterExpression(tags),
      options.invisibleMs,
      options.waitMs,
    );
    return this.receiveMessage(request, queue, options.waitMs);
  }

  async end(): Promise<void> {
    await super.shutdown().catch(() => undefined);
    this.#ended = true;
    await super.shutdown();
  }
}

const guarded = (stream: TelemetryStream): TelemetryStream => {
  const removeAll = stream.removeAllListeners.bind(stream);
  stream.removeAllListeners = (event?: string | symbol) => {
    // An argument that is there and undefined would remove nothing.
    if (event === undefined) removeAll();
    else removeAll(event);
    return stream.listenerCount('error') > 0 ? stream : stream.on('error', () => undefined);
  };
  return stream;
};

/** Takes everything and says nothing. */
const inert = (): TelemetryStream =>
  new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, done) => done(),
    objectMode: true,
  }) as unknown as TelemetryStream;
