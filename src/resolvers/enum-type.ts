import { registerEnumType } from 'type-graphql';

/** A GraphQL enum of words of the domain, each described; the table is exhaustive at compile time. */
export const enumType = <Word extends string>(
  name: string,
  description: string,
  words: Readonly<Record<Word, string>>,
): Readonly<Record<Word, Word>> => {
  const values = Object.fromEntries(Object.keys(words).map((word) => [word, word])) as Record<
    Word,
    Word
  >;
  registerEnumType(values, {
    name,
    description,
    valuesConfig: Object.fromEntries(
      Object.entries<string>(words).map(([word, text]) => [word, { description: text }]),
    ) as Record<Word, { description: string }>,
  });
  return values;
};
