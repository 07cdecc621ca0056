/** Logs of simulated containers: their start and end, and the lines of an annotation. */
import type { Pod } from '../../client/kinds.ts'
import { own } from '../../lib/own.ts'
import { annotationPrefix } from '../names.ts'
import { statusOf, type Terminated } from '../pods/lifecycle/pod-types.ts'

export interface LogLine {
  /** In ms since 1970. */
  readonly time: number
  readonly text: string
}

export interface LogOptions {
  readonly follow: boolean
  readonly previous: boolean
  readonly timestamps: boolean
  readonly sinceMs: number | undefined
  readonly tailLines: number | undefined
  readonly limitBytes: number | undefined
}

/** There is no log; the message is that of a kubelet. */
export class NoLogError extends Error {}

export function logOptions(query: URLSearchParams, now: number): LogOptions {
  const number = (name: string): number | undefined =>
    /^\d+$/.test(query.get(name) ?? '') ? Number(query.get(name)) : undefined
  const flag = (name: string): boolean => /^(1|t|true)$/i.test(query.get(name) ?? '')
  const seconds = number('sinceSeconds')
  const time = Date.parse(query.get('sinceTime') ?? '')
  return {
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    sinceMs: seconds === undefined ? (Number.isNaN(time) ? undefined : time) : now - seconds * 1000,
    tailLines: number('tailLines'),
    limitBytes: number('limitBytes'),
  }
}

/** Returns true if more lines may follow. */
export const isRunning = (pod: Pod, container: string): boolean =>
  statusOf(pod, container)?.state?.running !== undefined

/** The lines so far. Throws NoLogError for a container that has not started. */
export function logLines(pod: Pod, container: string, previous: boolean): LogLine[] {
  const { metadata } = pod
  const status = statusOf(pod, container)
  const ended = previous
    ? status?.lastState?.terminated
    : (status?.state?.terminated ?? (status?.state?.running ? undefined : status?.lastState?.terminated))
  if (previous && !ended)
    throw new NoLogError(
      `previous terminated container ${JSON.stringify(container)} in pod ${JSON.stringify(metadata.name)} not found`,
    )
  const startedAt = previous ? ended?.startedAt : (status?.state?.running?.startedAt ?? ended?.startedAt)
  if (!status || !startedAt) {
    const why = status?.state?.waiting?.reason ?? 'ContainerCreating'
    throw new NoLogError(
      `container ${JSON.stringify(container)} in pod ${JSON.stringify(metadata.name)} is waiting to start: ${why}`,
    )
  }
  const time = Date.parse(startedAt)
  const annotated =
    own(metadata.annotations ?? {}, `${annotationPrefix}log.${container}`) ??
    own(metadata.annotations ?? {}, `${annotationPrefix}log`)
  return [
    {
      time,
      text:
        `container ${container} of pod ${metadata.namespace}/${metadata.name} is simulated on ` +
        `${pod.spec?.nodeName}: nothing runs and nothing is logged`,
    },
    ...(annotated === undefined
      ? []
      : annotated
          .replace(/\n$/, '')
          .split('\n')
          .map((text) => ({ time, text }))),
    ...(ended ? [endLine(container, ended)] : []),
  ]
}

const endLine = (container: string, { exitCode, reason, finishedAt }: Terminated): LogLine => ({
  time: Date.parse(finishedAt ?? ''),
  text: `container ${container} has ended with exit code ${exitCode} (${reason})`,
})

/** The lines selected by the options, as text. */
export function logText(lines: readonly LogLine[], { sinceMs, tailLines, timestamps }: LogOptions): string {
  const recent = sinceMs === undefined ? lines : lines.filter(({ time }) => time >= sinceMs)
  const wanted = tailLines === undefined ? recent : tailLines === 0 ? [] : recent.slice(-tailLines)
  return wanted
    .map(({ time, text }) => `${timestamps ? `${new Date(time).toISOString().replace('Z', '000000Z')} ` : ''}${text}\n`)
    .join('')
}
