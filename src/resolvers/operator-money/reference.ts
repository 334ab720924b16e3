import { Length, NotContains, ValidateBy } from 'class-validator';

import { isBlank } from '../../domain/kernel/is-blank';
import { REFERENCE_CHARS_MAX } from './text-limits';

/** A word that a person gives to something that must count once: one that nobody sees would stand for anything. */
export const IsReference = (): PropertyDecorator => (target, property) => {
  const rules = [
    Length(1, REFERENCE_CHARS_MAX),
    NotContains('\0'),
    ValidateBy({
      name: 'isReference',
      validator: {
        validate: (value) => typeof value !== 'string' || !isBlank(value),
        defaultMessage: () => '$property must have a visible character',
      },
    }),
  ];
  for (const rule of rules) rule(target, property);
};
