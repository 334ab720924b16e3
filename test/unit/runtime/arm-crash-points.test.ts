import { EventEmitter } from 'node:events';

import { armCrashPoints, crashpoint } from '../../../src/ports/crash-points';
import { armFromConfig } from '../../../src/runtime/arm-crash-points';

const channel = () => {
  const said: unknown[] = [];
  const ends = new EventEmitter();
  return Object.assign(ends, {
    said,
    send: (message: unknown): boolean => {
      said.push(message);
      return true;
    },
  }) as unknown as NodeJS.Process & { readonly said: unknown[] };
};

describe('a crash point', () => {
  afterEach(() => armCrashPoints(() => undefined));

  it('armed by the environment ends the process with SIGKILL at its hit, and only there', () => {
    const kill = jest.spyOn(process, 'kill').mockReturnValue(true);
    armFromConfig({ crashPoint: 'create.before_commit@2', production: false });
    crashpoint('create.before_commit');
    crashpoint('reduce.before_commit');
    expect(kill).not.toHaveBeenCalled();
    crashpoint('create.before_commit');
    expect(kill.mock.calls).toEqual([[process.pid, 'SIGKILL']]);
  });

  it('armed by the parent counts from then on, and the parent is told', () => {
    const kill = jest.spyOn(process, 'kill').mockReturnValue(true);
    const parent = channel();
    armFromConfig({ crashPoint: 'parent', production: false }, parent);
    crashpoint('bill.before_commit');
    parent.emit('message', { bell: 'ring', channel: 'outbox' }, undefined);
    parent.emit('message', { crashAt: 'bill.before_commit@1' }, undefined);
    expect(parent.said).toEqual([{ armed: 'bill.before_commit@1' }]);
    expect(kill).not.toHaveBeenCalled();
    crashpoint('bill.before_commit');
    expect(kill.mock.calls).toEqual([[process.pid, 'SIGKILL']]);
  });

  it.each(['create.before_commit', 'create.before_commit@0', 'create.before_commit@x', 'boom@1'])(
    'named %s is refused',
    (crashPoint) => {
      expect(() => armFromConfig({ crashPoint, production: false })).toThrow(
        `There is no crash point ${crashPoint}`,
      );
    },
  );

  it('is refused in production, whoever arms it', () => {
    expect(() => armFromConfig({ crashPoint: 'parent', production: true })).toThrow('production');
    const parent = channel();
    armFromConfig({ crashPoint: null, production: true }, parent);
    expect(parent.listenerCount('message')).toBe(0);
  });
});
