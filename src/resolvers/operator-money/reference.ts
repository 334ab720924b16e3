import { Length, NotContains, ValidateBy } from 'class-validator';

import { isBlank } from '../../domain/kernel/is-blank';
import { REFERENCE_CHARS_MAX } from './text-limits';

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Z}/u;

/** Whether what looks the same is the same: two that only a machine can tell apart would count twice. */
const isPlain = (text: string): boolean =>
  !isBlank(text) && !INVISIBLE.test(text) && text === text.trim() && text === text.normalize('NFC');

/** A word that a person gives to something that must count once: one that nobody sees would stand for anything. */
export const IsReference = (): PropertyDecorator => (target, property) => {
  const rules = [
    Length(1, REFERENCE_CHARS_MAX),
    NotContains('\0'),
    ValidateBy({
      name: 'isReference',
      validator: {
        validate: (value) => typeof value !== 'string' || isPlain(value),
        defaultMessage: () =>
          '$property must be visible characters in NFC, with plain spaces only and none at its ends',
      },
    }),
  ];
  for (const rule of rules) rule(target, property);
};
