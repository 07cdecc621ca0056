/** Explains the crashes in an input, as text or as JSON. */
import { statSync } from 'node:fs'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { CallingConvention } from '../../tools/panics/arguments/index.ts'
import { parseSignature } from '../../tools/panics/go/parser.ts'
import { Sources } from '../../tools/panics/go/sources.ts'
import { readCrashes } from '../../tools/panics/index.ts'
import { type CrashReport, reportsOf } from '../../tools/panics/report.ts'
import { inputOf } from './input.ts'
import type { PodLogOptions } from './pod-log.ts'
import { type Colours, coloursOf } from './text/colours.ts'
import { reportsText } from './text/reports.ts'

export interface ExplainFlags extends Partial<PodLogOptions> {
  readonly func?: readonly string[]
  readonly src?: string
  readonly abi?: CallingConvention
  readonly output: 'text' | 'json'
  readonly all?: boolean
}

/** Resolves with the output. Rejects with an ExplainedError if there is no crash, or for an invalid flag. */
export async function explainPanic(file: string | undefined, flags: ExplainFlags): Promise<string> {
  const signatures = (flags.func ?? []).map(parseSignature)
  const sources = flags.src === undefined ? undefined : sourcesIn(flags.src)
  const { title, pieces } = await inputOf(file, flags)
  const crashes = await readCrashes(pieces)
  if (crashes.length === 0) throw new ExplainedError(nothingFound(title, flags))
  const reports = reportsOf(crashes, {
    signatures,
    ...(sources && { sources }),
    ...(flags.abi && { convention: flags.abi }),
  })
  for (const { name } of signatures) {
    if (!reports.some((report) => report.arguments.some((one) => hasName(one.function, name))))
      throw new ExplainedError(notCalled(name, title, reports))
  }
  if (flags.output === 'json') return `${JSON.stringify({ crashes: reports })}\n`
  const colours: Colours = await coloursOf(process.stdout)
  return reportsText(reports, { colours, all: flags.all ?? false })
}

const hasName = (full: string, name: string): boolean =>
  full
    .replace(/\[[^\]]*\]/g, '')
    .split(/[./]/)
    .includes(name)

function sourcesIn(folder: string): Sources {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new ExplainedError(`--src ${folder} is not a folder: use the one that contains the program's go.mod`)
  return new Sources(folder)
}

function nothingFound(title: string, { pod, previous }: ExplainFlags): string {
  const next =
    pod === undefined
      ? 'pass the whole output, starting with the line that contains panic: or fatal error:'
      : previous
        ? 'kubectl describe pod shows why it was restarted'
        : 'if the container was restarted since, use --previous to read the earlier log'
  return `there is no crash of a Go program in ${title}: ${next}`
}

/** Describes a missing call, with the names of calls that exist. */
function notCalled(name: string, title: string, reports: readonly CrashReport[]): string {
  const frames = reports.flatMap(({ goroutine, groups }) => [
    ...(goroutine?.frames ?? []),
    ...groups.flatMap((group) => group.frames),
  ])
  if (frames.some((frame) => frame.name === name))
    return `the calls of ${name} in ${title} have no argument words: they are inlined or in a closure; omit --func`
  const names = [
    ...new Set(
      frames.filter(({ origin, words }) => origin === 'own' && words !== undefined).map((frame) => frame.name),
    ),
  ]
  const calls =
    names.length > 0 ? `it has calls of ${names.slice(0, 10).join(', ')}` : 'its stacks show no function of the program'
  return `there is no call of ${name} in ${title}: ${calls}; check the name in --func`
}
