import { connect } from 'node:net';

/** Codes of RocketMQ's own protocol, as its RequestCode.java numbers them. */
const CLUSTER_INFO = 106;
const BROKER_RUNTIME_INFO = 28;
const LIMIT_MS = 10_000;

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Whether the name server knows a broker at the address. mqadmin would say it too, after starting Java for it. */
export const knowsBroker = async (namesrv: Address, broker: string): Promise<boolean> =>
  (await ask(namesrv, CLUSTER_INFO)).includes(`"${broker}"`);

/** How many messages the broker has taken today. */
export const countMessagesTaken = async (broker: Address): Promise<number> => {
  const status = await ask(broker, BROKER_RUNTIME_INFO);
  const found = /"msgPutTotalTodayNow"\s*:\s*"(\d+)"/.exec(status);
  if (found === null) throw new Error(`The broker does not say how many: ${status}`);
  return Number(found[1]);
};

/**
 * One request without fields: the length of all that follows, the length of the header, the header as JSON, the body; the answer
 * has the same form. Answers the body; throws what the server refused.
 */
const ask = ({ host, port }: Address, code: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, host);
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(LIMIT_MS, () => fail(new Error(`${host}:${port} did not answer in time`)));
    socket.once('error', fail);
    socket.once('close', () => fail(new Error(`${host}:${port} hung up`)));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 8 || received.length < 4 + received.readUInt32BE(0)) return;
      const { header, body } = readFrame(received);
      if (header.code === 0) resolve(body);
      else reject(new Error(`${host}:${port} answered ${header.code}: ${header.remark ?? ''}`));
      socket.destroy();
    });
    socket.write(writeFrame({ code, language: 'OTHER', version: 0, opaque: 1, flag: 0 }));
  });

const writeFrame = (header: object): Buffer => {
  const text = Buffer.from(JSON.stringify(header));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(4 + text.length, 0);
  lengths.writeUInt32BE(text.length, 4);
  return Buffer.concat([lengths, text]);
};

const readFrame = (frame: Buffer) => {
  const end = 4 + frame.readUInt32BE(0);
  // The highest byte says how the header is written: as it was in the request.
  const headerEnd = 8 + (frame.readUInt32BE(4) & 0xffffff);
  return {
    header: JSON.parse(frame.toString('utf8', 8, headerEnd)) as {
      readonly code: number;
      readonly remark?: string | null;
    },
    body: frame.toString('utf8', headerEnd, end),
  };
};
