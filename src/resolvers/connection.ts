import { ArgsType, Field, Int, ObjectType, type ClassType } from 'type-graphql';

import type { Page, PageRequest } from '../ports/read-model';
import { ApiError } from './errors';
import { parsePublicId, toPublicId, type IdKind } from './public-id';

const PAGE_SIZE_DEFAULT = 20;
export const PAGE_SIZE_MAX = 100;

const ADVICE = `A page has 1 to ${PAGE_SIZE_MAX} rows; follow \`pageInfo\` for more.`;

/** The limits are told by `toPageRequest`, in one error with a code of its own. */
@ArgsType()
export class PageArgs {
  @Field(() => Int, {
    nullable: true,
    description: `How many rows from the start of the list; ${PAGE_SIZE_DEFAULT} unless told, at most ${PAGE_SIZE_MAX}.`,
  })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Only rows after this cursor.' })
  after?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: `How many rows from the end of the list, at most ${PAGE_SIZE_MAX}. Not together with \`first\`.`,
  })
  last?: number | null;

  @Field(() => String, { nullable: true, description: 'Only rows before this cursor.' })
  before?: string | null;
}

@ObjectType({ description: 'Where a page stands in its list.' })
export class PageInfo {
  @Field(() => Boolean, { description: 'More rows follow.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Rows came before.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'Cursor of the first row of the page.' })
  startCursor!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Cursor of the last row; give it as `after` for the next page.',
  })
  endCursor!: string | null;
}

/** Reads and judges the arguments of a list. */
export const toPageRequest = (kind: IdKind, args: PageArgs): PageRequest => {
  const { first, last } = args;
  if (first != null && last != null) {
    throw new ApiError('BAD_USER_INPUT', 'Give `first` or `last`, not both.');
  }
  const limit = first ?? last ?? PAGE_SIZE_DEFAULT;
  if (limit < 1 || limit > PAGE_SIZE_MAX) {
    throw new ApiError('PAGE_SIZE_EXCEEDED', ADVICE, { limit: PAGE_SIZE_MAX, asked: limit });
  }
  return {
    limit,
    afterId: parseCursor(kind, args.after),
    beforeId: parseCursor(kind, args.before),
    fromEnd: first == null && last != null,
  };
};

/** A cursor is the row's id: readable, and valid as long as the row. Clients treat it as opaque. */
const parseCursor = (kind: IdKind, text: string | null | undefined): string | null => {
  if (text == null) return null;
  const parsed = parsePublicId(text);
  if (parsed?.kind !== kind) {
    throw new ApiError('CURSOR_INVALID', 'The cursor is none that this list has answered.');
  }
  return parsed.uuid;
};

export interface Connection<Node> {
  readonly edges: readonly { readonly cursor: string; readonly node: Node }[];
  readonly nodes: readonly Node[];
  readonly pageInfo: PageInfo;
}

export const toConnection = <Row extends { readonly id: string }, Node>(
  kind: IdKind,
  request: PageRequest,
  page: Page<Row>,
  toNode: (row: Row) => Node,
): Connection<Node> => {
  const edges = page.items.map((row) => ({
    cursor: toPublicId(kind, row.id),
    node: toNode(row),
  }));
  return {
    edges,
    nodes: edges.map(({ node }) => node),
    pageInfo: {
      hasNextPage: request.fromEnd ? request.beforeId !== null : page.hasMore,
      hasPreviousPage: request.fromEnd ? page.hasMore : request.afterId !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
};

/** The object type of a list of `node`. */
export const connectionType = <Node extends object>(name: string, node: () => ClassType<Node>) => {
  @ObjectType(`${name}Edge`, { description: `A row of a list of ${name}.` })
  class Edge {
    @Field(() => String, { description: 'Where the row stands: give it as `after` or `before`.' })
    cursor!: string;

    @Field(node, { description: 'The row.' })
    node!: Node;
  }

  @ObjectType(`${name}Connection`, {
    description: `A page of a list of ${name}, newest first.`,
  })
  class ConnectionOf {
    @Field(() => [Edge], { description: 'The rows with their cursors.' })
    edges!: Edge[];

    @Field(() => [node()], { description: 'The rows alone.' })
    nodes!: Node[];

    @Field(() => PageInfo, { description: 'Where the page stands in its list.' })
    pageInfo!: PageInfo;
  }
  return ConnectionOf;
};
