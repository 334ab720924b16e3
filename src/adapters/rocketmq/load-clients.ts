/**
 * The client of RocketMQ brings gRPC, half a second of loading and its memory: a process pays that when it opens a bus there, and
 * one on another bus never.
 */
export const loadClients = (): typeof import('./clients') =>
  // `import()` would make everything that opens a bus wait.
  require('./clients') as typeof import('./clients');
