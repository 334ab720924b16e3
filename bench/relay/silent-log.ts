const nothing = (): void => undefined;

/** For the client of RocketMQ, which else writes a file in the home folder. */
export const silentLog = { debug: nothing, info: nothing, warn: nothing, error: nothing };
