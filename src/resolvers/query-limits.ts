import {
  getOperationAST,
  GraphQLError,
  Kind,
  type ASTNode,
  type ASTVisitor,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';
import { getComplexity, type ComplexityEstimatorArgs } from 'graphql-query-complexity';

import { ApiError } from './errors';

/** What a document may have; each is judged before anything is executed. */
export const QUERY_LIMITS = {
  tokens: 4_000,
  depth: 15,
  aliases: 30,
  rootFields: 20,
  directives: 30,
  /** Fields times the lengths of the lists that they stand in. */
  cost: 20_000,
} as const;

/** Introspection is deep by nature and reads nothing. */
const INTROSPECTION_DEPTH = 25;

interface Measure {
  depth: number;
  aliases: number;
  rootFields: number;
  directives: number;
}

/** Counts stop here: fragments in fragments can stand for more fields than there are numbers. */
const ENOUGH = 1_000_000;

/** A validation rule: fragments count as often as they are spread. */
export const limitQueries = (context: ValidationContext): ASTVisitor => ({
  Document: (document) => {
    const fragments = new Map(
      document.definitions
        .filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION)
        .map((each) => [each.name.value, each]),
    );
    const measure = createMeasure(fragments);
    for (const definition of document.definitions) {
      if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
      const found = measure(definition.selectionSet);
      const isIntrospection = asksOnlyForSchema(definition.selectionSet);
      const depthMax = isIntrospection ? INTROSPECTION_DEPTH : QUERY_LIMITS.depth;
      const over = [
        ...(found.depth > depthMax ? [`depth ${found.depth} of at most ${depthMax}`] : []),
        ...overLimits(found),
      ];
      if (over.length > 0) {
        context.reportError(
          new ApiError('QUERY_TOO_COMPLEX', `The operation is too large: ${over.join(', ')}.`),
        );
      }
    }
  },
});

const overLimits = (found: Measure): string[] =>
  (['aliases', 'rootFields', 'directives'] as const)
    .filter((what) => found[what] > QUERY_LIMITS[what])
    .map((what) => `${Math.min(found[what], ENOUGH)} ${what} of at most ${QUERY_LIMITS[what]}`);

const asksOnlyForSchema = (selectionSet: SelectionSetNode): boolean =>
  selectionSet.selections.every(
    (each) => each.kind === Kind.FIELD && /^__(schema|type|typename)$/.test(each.name.value),
  );

const createMeasure = (fragments: ReadonlyMap<string, FragmentDefinitionNode>) => {
  const known = new Map<string, Measure>();
  const open = new Set<string>();

  const measureFragment = (name: string): Measure => {
    const before = known.get(name);
    const fragment = fragments.get(name);
    // A circle, or a fragment that does not exist, is another rule's error.
    if (before !== undefined || fragment === undefined || open.has(name)) {
      return before ?? { depth: 0, aliases: 0, rootFields: 0, directives: 0 };
    }
    open.add(name);
    const found = measure(fragment.selectionSet);
    open.delete(name);
    known.set(name, found);
    return found;
  };

  const measure = (selectionSet: SelectionSetNode): Measure => {
    const sum: Measure = { depth: 0, aliases: 0, rootFields: 0, directives: 0 };
    for (const each of selectionSet.selections) {
      sum.directives += each.directives?.length ?? 0;
      const isField = each.kind === Kind.FIELD;
      const inner =
        each.kind === Kind.FRAGMENT_SPREAD
          ? measureFragment(each.name.value)
          : each.selectionSet === undefined
            ? null
            : measure(each.selectionSet);
      if (isField && each.alias !== undefined) sum.aliases += 1;
      sum.rootFields += isField ? 1 : (inner?.rootFields ?? 0);
      sum.depth = Math.max(sum.depth, (inner?.depth ?? 0) + (isField ? 1 : 0));
      sum.aliases = Math.min(ENOUGH, sum.aliases + (inner?.aliases ?? 0));
      sum.directives = Math.min(ENOUGH, sum.directives + (inner?.directives ?? 0));
    }
    sum.rootFields = Math.min(ENOUGH, sum.rootFields);
    return sum;
  };
  return measure;
};

const PAGE_ROWS = 20;
/** Lists without a page: attempts, events and the like. */
const LIST_ROWS = 5;

const estimate = ({ field, args, childComplexity }: ComplexityEstimatorArgs): number => {
  const rows = args as { first?: number | null; last?: number | null; ids?: readonly unknown[] };
  if (field.args.some(({ name }) => name === 'first')) {
    const asked = rows.first ?? rows.last ?? PAGE_ROWS;
    return 1 + Math.max(1, asked) * childComplexity;
  }
  if (Array.isArray(rows.ids)) return 1 + rows.ids.length * childComplexity;
  const isList = String(field.type).startsWith('[');
  // `edges` and `nodes` were multiplied with the list that they are in.
  const isPagePart = field.name === 'edges' || field.name === 'nodes';
  return 1 + (isList && !isPagePart ? LIST_ROWS : 1) * childComplexity;
};

/** Judges what only the variables decide. Throws an ApiError; the document must be valid. */
export const judgeOperation = (
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Readonly<Record<string, unknown>>,
): void => {
  if (hasBadText(variables) || getStrings(document).some(isBadText)) {
    throw new ApiError(
      'BAD_USER_INPUT',
      'A text holds a NUL character or half a surrogate pair; neither can be kept.',
    );
  }
  const name = operationName ?? undefined;
  if (getOperationAST(document, name) == null) return;
  const cost = costOf(schema, document, name, variables);
  if (cost > QUERY_LIMITS.cost) {
    throw new ApiError(
      'QUERY_TOO_COMPLEX',
      `The operation costs ${cost} of at most ${QUERY_LIMITS.cost}: ask for fewer rows or fields.`,
      { cost, costMax: QUERY_LIMITS.cost },
    );
  }
};

const costOf = (
  schema: GraphQLSchema,
  query: DocumentNode,
  operationName: string | undefined,
  variables: Readonly<Record<string, unknown>>,
): number => {
  try {
    return getComplexity({
      schema,
      query,
      variables,
      estimators: [estimate],
      ...(operationName === undefined ? {} : { operationName }),
    });
  } catch (error) {
    // Variables that do not fit their types: the executor says so, with the place.
    if (error instanceof GraphQLError) return 0;
    throw error;
  }
};

const isBadText = (text: string): boolean => text.includes('\0') || !isWellFormed(text);

const LONE_SURROGATE = /\p{Surrogate}/u;
const isWellFormed = (text: string): boolean => !LONE_SURROGATE.test(text);

const hasBadText = (value: unknown): boolean => {
  if (typeof value === 'string') return isBadText(value);
  if (value === null || typeof value !== 'object') return false;
  return Object.entries(value).some(([key, each]) => isBadText(key) || hasBadText(each));
};

const getStrings = (node: ASTNode): string[] => {
  const found: string[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(walk);
    } else if (value !== null && typeof value === 'object') {
      const { kind, value: text } = value as { kind?: unknown; value?: unknown };
      if (kind === Kind.STRING && typeof text === 'string') found.push(text);
      for (const [key, each] of Object.entries(value)) if (key !== 'loc') walk(each);
    }
  };
  walk(node);
  return found;
};
