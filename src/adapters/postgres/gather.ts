/**
 * Answers single questions in batches: those asked in one turn of the event loop become one call of `answerAll`, whose answers come in
 * the order of the questions. A failure is everybody's.
 */
export const gather = <Question, Answer>(
  answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): ((question: Question) => Promise<Answer>) => {
  let open: Promise<{ questions: Question[]; answers: readonly Answer[] }> | null = null;
  let asked: Question[] = [];

  const begin = (): NonNullable<typeof open> =>
    new Promise((resolve, reject) => {
      setImmediate(() => {
        const questions = asked;
        asked = [];
        open = null;
        answerAll(questions).then((answers) => resolve({ questions, answers }), reject);
      });
    });

  return async (question) => {
    const place = asked.push(question) - 1;
    open ??= begin();
    const { questions, answers } = await open;
    if (answers.length !== questions.length) {
      throw new Error(`${questions.length} questions got ${answers.length} answers`);
    }
    return answers[place] as Answer;
  };
};

/** For lookups by id: rows in any order, each at most once, null for those that are missing. */
export const gatherById = <Row extends { readonly id: string }>(
  readAll: (ids: readonly string[]) => Promise<readonly Row[]>,
): ((id: string) => Promise<Row | null>) =>
  gather(async (ids) => {
    const rows = new Map((await readAll([...new Set(ids)])).map((row) => [row.id, row]));
    return ids.map((id) => rows.get(id) ?? null);
  });
