const VISIBLE = /[^\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether nobody would see anything of it: empty, of spaces, or of characters without a shape. */
export const isBlank = (text: string): boolean => !VISIBLE.test(text);
