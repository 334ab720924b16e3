import ts from 'typescript';
import type { HouseRule } from './house-rule';
import type { SourceFile } from './source-files';

type FileRule = HouseRule<readonly SourceFile[]>;

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const KEBAB_CASE =
  /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|d|config|reporter))?\.(ts|mjs|cjs|js|sql|prisma|graphql)$/;

export const filesAreKebabCase: FileRule = {
  reason: 'A file is found by its name: one spelling for all.',
  fix: 'Rename it to kebab-case, for example claim-outbox-rows.ts.',
  find: (files) =>
    files.filter(({ path }) => !KEBAB_CASE.test(baseName(path))).map(({ path }) => path),
};

const EMPTY_NAMES = /^(utils?|helpers?|commons?|managers?|misc|shared-stuff)$/;

export const namesSayWhatTheyHold: FileRule = {
  reason: 'A file called utils, helpers, common or manager holds anything, and then everything.',
  fix: 'Name the file or folder after what it does: parse-money.ts, retry-budget.ts.',
  find: (files) =>
    files
      .filter(({ path }) =>
        path
          .replace(/\.[^/]*$/, '')
          .split(/[/-]/)
          .some((word) => EMPTY_NAMES.test(word)),
      )
      .map(({ path }) => path),
};

const LINES_MAX = 400;

export const filesAreShort: FileRule = {
  reason: `A file of more than ${LINES_MAX} lines holds more than one idea.`,
  fix: 'Split it by what changes together; most files here have 40 to 200 lines.',
  find: (files) =>
    files
      .map(({ path, text }) => ({ path, lines: text.replace(/\n$/, '').split('\n').length }))
      .filter(({ lines }) => lines > LINES_MAX)
      .map(({ path, lines }) => `${path}: ${lines} lines`),
};

const parse = ({ path, text }: SourceFile): ts.SourceFile =>
  ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);

/** Calls `visit` on every node below `root`, depth first. */
const walk = (root: ts.Node, visit: (node: ts.Node) => void): void => {
  visit(root);
  root.forEachChild((child) => walk(child, visit));
};

const place = (file: SourceFile, tree: ts.SourceFile, node: ts.Node): string =>
  `${file.path}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`;

const isDefaultExport = (node: ts.Node): boolean =>
  ts.isExportAssignment(node) ||
  (ts.isExportSpecifier(node) && node.name.text === 'default') ||
  (ts.canHaveModifiers(node) &&
    (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword));

const findNodes = (
  files: readonly SourceFile[],
  mention: RegExp,
  isWrong: (node: ts.Node) => boolean,
): string[] =>
  files
    .filter(({ text }) => mention.test(text))
    .flatMap((file) => {
      const tree = parse(file);
      const places: string[] = [];
      walk(tree, (node) => {
        if (isWrong(node)) places.push(place(file, tree, node));
      });
      return places;
    });

export const exportsHaveNames: FileRule = {
  reason: 'A default export has as many names as importers, and no search finds them all.',
  fix: 'Export by name: export const x = …',
  find: (files) => findNodes(files, /default|export\s*=/, isDefaultExport),
};

const SUITE = /^(describe|it|test)$/;
const FOCUS = /^(only|skip|todo|failing)$/;
const LEGACY = /^(fdescribe|fit|xdescribe|xit|xtest)$/;

const isFocusedOrSkipped = (node: ts.Node): boolean =>
  (ts.isPropertyAccessExpression(node) &&
    FOCUS.test(node.name.text) &&
    SUITE.test(node.expression.getText().split('.')[0] ?? '')) ||
  (ts.isCallExpression(node) && LEGACY.test(node.expression.getText()));

export const everyTestRuns: FileRule = {
  reason: 'A focused or skipped test hides others, and a green run then proves nothing.',
  fix:
    'Remove .only, .skip, .todo. A suite that needs a program the machine lacks is skipped through ' +
    'test/support, which prints a loud line and fails where everything is required.',
  find: (files) =>
    findNodes(
      files,
      /only|skip|todo|failing|fdescribe|fit|xdescribe|xit|xtest/,
      isFocusedOrSkipped,
    ),
};

const isCrashPointCall = (node: ts.Node): node is ts.CallExpression =>
  ts.isCallExpression(node) &&
  /(^|\.)crash[pP]oint$/.test(node.expression.getText()) &&
  node.arguments.length > 0;

const CRASH_POINT_NAME = /^[a-z][a-z0-9-]*(\.[a-z0-9_]+)+$/;

/** Where each crash point is named: name → places. A name that is not a literal is kept as its source text. */
export const listCrashPoints = (files: readonly SourceFile[]): Map<string, string[]> => {
  const points = new Map<string, string[]>();
  for (const file of files.filter(({ text }) => /crash[pP]oint\(/.test(text))) {
    const tree = parse(file);
    walk(tree, (node) => {
      if (!isCrashPointCall(node)) return;
      const argument = node.arguments[0];
      if (argument === undefined) return;
      const name = ts.isStringLiteralLike(argument) ? argument.text : argument.getText();
      points.set(name, [...(points.get(name) ?? []), place(file, tree, node)]);
    });
  }
  return points;
};

export const crashPointsAreUnique: FileRule = {
  reason: 'A crash test that names a point must know exactly where the process dies.',
  fix: "Give each crashpoint('stage.after_x_before_y') a literal name of its own.",
  find: (files) =>
    [...listCrashPoints(files)].flatMap(([name, places]) => {
      if (!CRASH_POINT_NAME.test(name))
        return [`${name} is not a literal stage.place: ${places.join(', ')}`];
      return places.length > 1 ? [`${name} is named at ${places.join(' and ')}`] : [];
    }),
};
