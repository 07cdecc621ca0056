/** Parses a Dockerfile into stages. Checks everything that needs no variables. */
import { buildError, type Place } from './build-error.ts'
import { splitWords } from './expand-words.ts'
import { expanded, flagOf, type Instruction, jsonWords } from './instruction.ts'
import { logicalLines } from './logical-lines.ts'

export interface Stage {
  readonly index: number
  /** In lower case; '' without `AS`. */
  readonly name: string
  /** The instruction `FROM`. */
  readonly from: Instruction
  /** An image, an earlier stage, or `scratch`; variables are replaced. */
  readonly base: string
  readonly platform: string | undefined
  readonly instructions: readonly Instruction[]
}

export interface Dockerfile {
  readonly stages: readonly Stage[]
  /** Values of `ARG` before the first `FROM`, which stages may declare once more. */
  readonly globals: ReadonlyMap<string, string>
}

export interface ParseOptions {
  /** The name in messages. */
  readonly file: string
  /** Values by the user. */
  readonly buildArgs: ReadonlyMap<string, string>
  /** Values that every `FROM` sees: `TARGETARCH`. */
  readonly platformArgs: ReadonlyMap<string, string>
}

/** Flags by instruction; `''` stands for instructions without any. */
const knownFlags: Readonly<Record<string, readonly string[]>> = {
  FROM: ['platform'],
  COPY: ['from', 'chown', 'chmod', 'link'],
  ADD: ['chown', 'chmod', 'link'],
  RUN: ['network'],
  HEALTHCHECK: ['interval', 'timeout', 'start-period', 'start-interval', 'retries'],
}

const keywords: ReadonlySet<string> = new Set([
  ...Object.keys(knownFlags),
  ...['ARG', 'CMD', 'ENTRYPOINT', 'ENV', 'EXPOSE', 'LABEL', 'MAINTAINER', 'SHELL', 'STOPSIGNAL', 'USER'],
  ...['VOLUME', 'WORKDIR'],
])

/** Throws an ImageError with the file and the line. */
export function parseDockerfile(text: string, options: ParseOptions): Dockerfile {
  const { file, buildArgs, platformArgs } = options
  const { lines, escapeCharacter } = logicalLines(text, file)
  const globals = new Map<string, string>()
  const variables = (name: string) => globals.get(name) ?? platformArgs.get(name)
  const stages: (Stage & { readonly instructions: Instruction[] })[] = []
  for (const { line, text: row, documents } of lines) {
    const instruction = { ...parseInstruction(row, { file, line }), documents, escapeCharacter }
    const stage = stages.at(-1)
    if (instruction.keyword === 'FROM') stages.push(stageOf(instruction, stages, variables))
    else if (stage) stage.instructions.push(instruction)
    else if (instruction.keyword === 'ARG') setGlobals(instruction, globals, buildArgs)
    else throw buildError({ file, line }, `${instruction.keyword} comes before FROM: begin with FROM IMAGE`)
  }
  if (stages.length === 0) throw buildError({ file, line: 1 }, 'there is no FROM: begin with FROM IMAGE')
  return { stages, globals }
}

function parseInstruction(row: string, place: Place): Omit<Instruction, 'documents' | 'escapeCharacter'> {
  const [, word = '', after = ''] = /^(\S+)\s*([\s\S]*)$/.exec(row) ?? []
  const keyword = word.toUpperCase()
  if (keyword === 'ONBUILD') throw buildError(place, 'ONBUILD is not supported: write the instruction into the image')
  if (!keywords.has(keyword)) throw buildError(place, `${word} is no instruction`)
  const flags = new Map<string, string>()
  let rest = after
  for (let match = flagAt(rest); match; match = flagAt(rest)) {
    const [whole, name = '', value = ''] = match
    if (!(knownFlags[keyword] ?? []).includes(name))
      throw buildError(place, `${keyword} --${name} is not supported: leave it out`)
    flags.set(name, value)
    rest = rest.slice(whole.length)
  }
  if (rest === '') throw buildError(place, `${keyword} needs an argument`)
  if (keyword === 'SHELL' && !jsonWords(rest)?.length) throw buildError(place, 'SHELL needs a list: ["/bin/sh", "-c"]')
  const network = flags.get('network') ?? 'default'
  if (network !== 'default' && network !== 'host')
    throw buildError(place, `RUN --network=${network} is not supported: commands use the network of the machine`)
  return { place, keyword, flags, rest }
}

const flagAt = (rest: string): RegExpExecArray | null => /^--([a-z-]+)(?:=(\S*))?(?:\s+|$)/.exec(rest)

function stageOf(from: Instruction, before: readonly Stage[], variables: (name: string) => string | undefined) {
  const { place, rest } = from
  const [, image = '', name = ''] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(rest) ?? []
  if (image === '') throw buildError(place, `cannot read FROM ${rest}: write FROM IMAGE, or FROM IMAGE AS NAME`)
  const lower = name.toLowerCase()
  if (lower !== '' && !/^[a-z][a-z0-9-_.]*$/.test(lower))
    throw buildError(place, `${JSON.stringify(name)} is no name of a stage: begin with a letter`)
  if (lower !== '' && before.some((stage) => stage.name === lower))
    throw buildError(place, `there are two stages with the name ${lower}`)
  const base = expanded(from, image, variables)
  if (base === '') throw buildError(place, `${image} is empty: set it with --build-arg, or give ARG a default`)
  const platform = flagOf(from, 'platform', variables) || undefined
  return { index: before.length, name: lower, from, base, platform, instructions: [] as Instruction[] }
}

function setGlobals(
  instruction: Instruction,
  globals: Map<string, string>,
  buildArgs: ReadonlyMap<string, string>,
): void {
  for (const [name, value] of declaredArgs(instruction, (key) => globals.get(key))) {
    const given = buildArgs.get(name) ?? value
    if (given !== undefined) globals.set(name, given)
  }
}

/** The names that `ARG` declares, with their defaults. */
export function declaredArgs(
  instruction: Instruction,
  variables: (name: string) => string | undefined,
): [name: string, value: string | undefined][] {
  return splitWords(instruction.rest, instruction.escapeCharacter).map((word) => {
    const [, name, value] = /^([A-Za-z_]\w*)(?:=([\s\S]*))?$/.exec(word) ?? []
    if (name === undefined) throw buildError(instruction.place, `${JSON.stringify(word)} is no name of a variable`)
    return [name, value === undefined ? undefined : expanded(instruction, value, variables)]
  })
}
