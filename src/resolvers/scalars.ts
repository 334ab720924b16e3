import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { GraphQLDateTime, GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';

import { formatCredits, MICROS_MAX, parseCredits } from '../domain/kernel/money';

const parseMoney = (value: unknown): bigint => {
  const micros = typeof value === 'string' ? parseCredits(value) : null;
  if (micros === null || micros > MICROS_MAX) {
    throw new GraphQLError(
      'Money is a string of credits: a plain decimal, not negative, with at most 6 places, as "1.25", at most 9223372036854.775807.',
      { extensions: { code: 'BAD_USER_INPUT' } },
    );
  }
  return micros;
};

/** Inside the product: integer micro-credits. */
export const MoneyScalar = new GraphQLScalarType<bigint, string>({
  name: 'Money',
  description:
    'Credits as a decimal string with at most 6 places, as "1.25". Never a float: read it with a decimal library.',
  serialize: (value) => formatCredits(value as bigint),
  parseValue: parseMoney,
  parseLiteral: (node) => parseMoney(node.kind === Kind.STRING ? node.value : null),
});

/** Output only. */
export const DecimalScalar = new GraphQLScalarType<string, string>({
  name: 'Decimal',
  description: 'An exact decimal number as a string.',
  serialize: String,
});

/** Output only: what the product hands out is made by itself. */
export const UrlScalar = new GraphQLScalarType<string, string>({
  name: 'URL',
  description: 'An absolute URL. URLs that serve media are secrets for as long as they live.',
  serialize: String,
  specifiedByURL: 'https://url.spec.whatwg.org/',
});

export const DateTimeScalar = GraphQLDateTime;
export const JsonObjectScalar = GraphQLJSONObject;
export const SafeIntScalar = GraphQLSafeInt;
