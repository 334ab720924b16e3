import { INVARIANTS } from '../../domain/reconciliation/invariants';

/** What a check must be able to see; without it the check is left out, and the report says so. */
export type Sight =
  'database' | 'slots' | 'provider log' | 'object store' | 'object bytes' | 'data folder';

export interface Check {
  readonly name: string;
  readonly says: string;
  readonly needs: Sight;
}

/** Kept by SQL over the whole database; each is the file of its name with dashes in src/adapters/postgres/verify. */
const ROW_CHECKS = {
  entries_append_only:
    'Ledger, costs, invoices, audit log and decisions refuse every change of what is written.',
  law_is_held: 'The database refuses exactly the moves that the tables refuse.',
  guards_stand: 'The unique keys and checks that the flow relies on are there and valid.',
  business_keys_unique: 'Each credit movement is booked once.',
  settled_as_told: 'What a generation says it cost is what its hold and its entries say.',
  end_matches_money: 'A success is paid as quoted, another end only for what the provider charged.',
  amounts_as_moved: 'An entry moves the amount that it names, in the way of its kind.',
  movements_have_cause:
    'Each grant, refund and correction has the record of who ordered it, or of what made it.',
  limits_fold: 'What a limit counts as spent is the fold of holds, refunds and adjustments.',
  costs_booked: 'What an attempt or an invoice says was charged is booked as a cost.',
  success_has_output: 'A success points to a proxy of its own raw output.',
  success_is_playable:
    'The output of a success is playable, or was taken back by a recorded review.',
  cancel_agrees_with_end: 'Of cancel and completion one won, and the outcome told is that one.',
  events_applied_once: 'One observation moves a generation once, however often it comes.',
  facts_have_tasks: 'No entry and no history belongs to a generation that is not there.',
  outbox_delivered: 'Every committed message reached each of its readers, or is on its way.',
  no_dead_messages: 'No reader has given a message up.',
  tenants_apart: 'No row of one tenant hangs on a row of another.',
  uploads_end: 'Uploads are completed or closed after their time.',
  no_secret_in_rows:
    'No secret, key or signed URL stands in messages, history, findings or errors.',
} as const;

/** Of the database's own leases, and of those that are held outside of it. */
const SLOT_CHECKS = {
  slots_counted: 'A slot scope counts the leases that hold it.',
  slots_within_limits: 'No more slots are in use than the limit.',
  slots_have_holders:
    'Slots are held for attempts that may have a living job, and for nothing else.',
} as const;

const PROVIDER_CHECKS = {
  one_submit_per_attempt: 'The provider was asked once for each attempt, by its own log.',
  provider_jobs_linked: 'Every job of the provider is bound to its attempt, in doubt, or recorded.',
  bound_jobs_exist: 'Every job that an attempt is bound to is in the provider’s log, as its own.',
  charges_linked: 'Every charge of the provider is for an attempt of ours.',
  costs_as_charged: 'Costs are booked as the provider charged them.',
} as const;

const OBJECT_CHECKS = {
  ready_assets_stored: 'Everything that is said to be playable is stored.',
  no_orphan_objects: 'Every stored object is known by an asset.',
  no_leftover_parts: 'No upload in parts is open in the store that nobody goes on with.',
  stored_as_told: 'What is stored has the size and the noted checksum that its asset says.',
} as const;

/** All bytes are read for these. */
const BYTES_CHECKS = {
  bytes_as_told: 'The bytes that are stored have the checksum that their asset says.',
} as const;

const MACHINE_CHECKS = {
  no_secret_in_logs: 'No secret, key or signed URL stands in a log file.',
  no_leftover_files: 'No scratch file of a dead process is left.',
  no_leftover_processes: 'No process of the product outlives it.',
} as const;
export type MachineCheck = keyof typeof MACHINE_CHECKS;

const listed = (checks: Readonly<Record<string, string>>, needs: Sight): Check[] =>
  Object.entries(checks).map(([name, says]) => ({ name, says, needs }));

/** Pure invariants that read sums of an account; the others of the domain read one generation. */
export const ACCOUNT_INVARIANTS: readonly string[] = [
  'balances_fold',
  'credits_add_up',
  'balances_not_negative',
  'held_is_open_holds',
];
/** Pure invariants that read history, which is kept for some days only. */
export const HISTORY_INVARIANTS: readonly string[] = [
  'versions_contiguous',
  'history_is_path',
  'terminals_sticky',
  'no_blind_second_submit',
];

export const CHECKS: readonly Check[] = [
  // Unique over all rows, so asked of the whole ledger and not of one generation.
  ...INVARIANTS.filter(({ name }) => name !== 'business_keys_unique').map(({ name, says }) => ({
    name,
    says,
    needs: 'database' as const,
  })),
  ...listed(ROW_CHECKS, 'database'),
  ...listed(SLOT_CHECKS, 'slots'),
  ...listed(PROVIDER_CHECKS, 'provider log'),
  ...listed(OBJECT_CHECKS, 'object store'),
  ...listed(BYTES_CHECKS, 'object bytes'),
  ...listed(MACHINE_CHECKS, 'data folder'),
];

export const isMachineCheck = (name: string): name is MachineCheck => name in MACHINE_CHECKS;
