/** Explains the crashes in an input: as a text for people, or as JSON for programs. */
import { statSync } from 'node:fs'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { CallingConvention } from '../../panics/arguments/index.ts'
import { parseSignature } from '../../panics/go/parser.ts'
import { Sources } from '../../panics/go/sources.ts'
import { readCrashes } from '../../panics/index.ts'
import { type CrashReport, reportsOf } from '../../panics/report.ts'
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

/** Resolves with what to print. Rejects with an ExplainedError where there is no crash, or a flag makes no sense. */
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
    throw new ExplainedError(`--src ${folder} is no folder: name the one that holds the program's go.mod`)
  return new Sources(folder)
}

function nothingFound(title: string, { pod, previous }: ExplainFlags): string {
  const next =
    pod === undefined
      ? 'give it the whole output, from the line with panic: or fatal error: on'
      : previous
        ? 'see kubectl describe pod for why it was restarted'
        : 'if it has been restarted since, read the log before by --previous'
  return `there is no crash of a Go program in ${title}: ${next}`
}

/** A name that is not there, with those that are. */
function notCalled(name: string, title: string, reports: readonly CrashReport[]): string {
  const frames = reports.flatMap(({ goroutine, groups }) => [
    ...(goroutine?.frames ?? []),
    ...groups.flatMap((group) => group.frames),
  ])
  if (frames.some((frame) => frame.name === name))
    return `the calls of ${name} in ${title} show no words: they are inlined, or of a closure; leave --func out`
  const names = [
    ...new Set(
      frames.filter(({ origin, words }) => origin === 'own' && words !== undefined).map((frame) => frame.name),
    ),
  ]
  return (
    `no call of ${name} is in ${title}: ` +
    `${names.length > 0 ? `there are calls of ${names.slice(0, 10).join(', ')}` : 'none of its stacks shows a call of a function of its own'}; ` +
    'check the name in --func'
  )
}
