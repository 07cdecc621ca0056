// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of Dockerfiles.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOf } from './instruction.ts'
import { neededStages } from './needed-stages.ts'
import { parseDockerfile } from './parse-dockerfile.ts'

const parse = (text: string, buildArgs: Readonly<Record<string, string>> = {}) =>
  parseDockerfile(text, {
    file: 'Dockerfile',
    buildArgs: new Map(Object.entries(buildArgs)),
    platformArgs: new Map([['TARGETARCH', 'amd64']]),
  })
const instructions = (text: string) => parse(text).stages[0]!.instructions

test('comments, empty lines and continued lines', () => {
  const found = instructions('# a\nFROM x\n\nRUN a \\\n  # comment\n\n  b \\ \n  && c\n # d\nCMD ["x"]\n')
  assert.deepEqual(
    found.map((one) => [one.place.line, textOf(one)]),
    [
      [4, 'RUN a b && c'],
      [9 + 1, 'CMD ["x"]'],
    ],
  )
})

test('the directive escape changes the character that continues lines', () => {
  assert.equal(textOf(instructions('# escape=`\nFROM x\nRUN dir c:\\ `\n  b')[0]!), 'RUN dir c:\\ b')
  assert.throws(() => parse('#escape=x\nFROM x'), /Dockerfile:1: the escape character must be/)
  // A comment ends the directives.
  assert.equal(instructions('# a\n# escape=`\nFROM x\nRUN a \\\nb')[0]!.rest, 'a b')
})

test('here-documents belong to their instruction', () => {
  const [run, copy] = instructions('FROM x\nRUN <<EOF cat <<-"B"\na\n# b\nEOF\n\tc\n\tB\nCOPY <<x /y\nx\n')
  assert.deepEqual(
    run!.documents.map(({ name, content, isExpanded }) => [name, content, isExpanded]),
    [
      ['EOF', 'a\n# b\n', true],
      ['B', 'c\n', false],
    ],
  )
  assert.equal(copy!.documents[0]!.content, '')
  assert.deepEqual(instructions('FROM x\nRUN echo $((1<<2)) <<<word')[0]!.documents, [])
  assert.throws(() => parse('FROM x\nRUN <<EOF\na'), /Dockerfile:2: no line ends the here-document: write EOF alone/)
})

test('ARG before FROM, values of the user, and platforms', () => {
  const text = 'ARG V=1 W="a b"\nARG BASE=x:$V\nFROM --platform=linux/$TARGETARCH ${BASE} AS Name\n'
  const [stage] = parse(text).stages
  assert.deepEqual([stage!.base, stage!.name, stage!.platform], ['x:1', 'name', 'linux/amd64'])
  assert.equal(parse(text, { V: '2' }).stages[0]!.base, 'x:2')
  assert.deepEqual(
    [...parse(text).globals],
    [
      ['V', '1'],
      ['W', 'a b'],
      ['BASE', 'x:1'],
    ],
  )
})

test('only stages that the target needs are built', () => {
  const { stages } = parse('FROM x AS a\nFROM x AS b\nFROM a AS c\nCOPY --from=1 / /\nFROM x\nFROM c AS d\n')
  const names = (target?: string) => neededStages(stages, target).map(({ index }) => index)
  assert.deepEqual([names(), names('3'), names('C')], [[0, 1, 2, 4], [3], [0, 1, 2]])
  assert.throws(() => names('e'), /there is no stage "e": the stages are a, b, c, 3, d/)
})

for (const [text, message] of [
  ['', /Dockerfile:1: there is no FROM/],
  ['RUN a', /Dockerfile:1: RUN comes before FROM/],
  ['FROM x\nRUNN a', /Dockerfile:2: RUNN is no instruction/],
  ['FROM x\nRUN', /Dockerfile:2: RUN needs an argument/],
  ['FROM x y', /Dockerfile:1: cannot read FROM x y/],
  ['FROM $X', /Dockerfile:1: \$X is empty: set it with --build-arg/],
  ['FROM x AS 1', /no name of a stage/],
  ['FROM x AS a\nFROM x AS A', /Dockerfile:2: there are two stages with the name a/],
  ['FROM x\nRUN --mount=type=cache,target=/x a', /RUN --mount is not supported/],
  ['FROM x\nRUN --network=none a', /RUN --network=none is not supported/],
  ['FROM x\nONBUILD RUN a', /ONBUILD is not supported/],
  ['FROM x\nSHELL /bin/sh', /SHELL needs a list/],
  ['FROM x\nADD --checksum=x a b', /ADD --checksum is not supported/],
] as const)
  test(`${JSON.stringify(text)} is rejected`, () => assert.throws(() => parse(text), message))
