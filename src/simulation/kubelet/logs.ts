/** Logs of simulated containers: their start and end, and the lines of an annotation. */
import type { Pod } from '../../client/kinds.ts'
import { own } from '../../lib/own.ts'
import { HttpError } from '../../node/http-error.ts'
import { statusOf, type Terminated } from '../../node/pods/pod-types.ts'
import type { LogOptions } from '../../node/server/log-options.ts'
import { annotationPrefix } from '../names.ts'

interface LogLine {
  /** In ms since 1970. */
  readonly time: number
  readonly text: string
}

/** A pod that may change while it is in use. */
export interface LivePod {
  /** Undefined after the pod was deleted. */
  current(): Pod | undefined
  /** Calls `callback` on changes. Returns a function that stops it. */
  onChange(callback: () => void): () => void
}

/** The log as text: the lines so far, and with `follow` those until the container ends. Throws 400 if there is none. */
export function containerLog(
  pod: LivePod,
  container: string,
  options: LogOptions,
  signal: AbortSignal,
): AsyncIterable<Buffer> {
  const now = pod.current()
  const lines = now ? logLines(now, container, options.previous) : []
  return textOf(pod, container, lines, options, signal)
}

async function* textOf(
  pod: LivePod,
  container: string,
  lines: readonly LogLine[],
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  yield Buffer.from(logText(lines, options))
  if (!options.follow) return
  await ended(pod, container, signal)
  const now = pod.current()
  const more = now && !signal.aborted ? logLines(now, container, false).slice(lines.length) : []
  yield Buffer.from(logText(more, { ...options, tailLines: undefined }))
}

/** Resolves when the container has ended, its pod was deleted, or `signal` is aborted. */
function ended(pod: LivePod, container: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const check = (): void => {
    const now = pod.current()
    if (now && isRunning(now, container) && !signal.aborted) return
    stop()
    signal.removeEventListener('abort', check)
    resolve()
  }
  const stop = pod.onChange(check)
  signal.addEventListener('abort', check)
  check()
  return promise
}

/** Returns true if more lines may follow. */
const isRunning = (pod: Pod, container: string): boolean => statusOf(pod, container)?.state?.running !== undefined

/** The lines so far. Throws 400 for a container that has not started. */
function logLines(pod: Pod, container: string, previous: boolean): LogLine[] {
  const { metadata } = pod
  const status = statusOf(pod, container)
  const ended = previous
    ? status?.lastState?.terminated
    : (status?.state?.terminated ?? (status?.state?.running ? undefined : status?.lastState?.terminated))
  if (previous && !ended)
    throw new HttpError(
      400,
      `previous terminated container ${JSON.stringify(container)} in pod ${JSON.stringify(metadata.name)} not found`,
    )
  const startedAt = previous ? ended?.startedAt : (status?.state?.running?.startedAt ?? ended?.startedAt)
  if (!status || !startedAt) {
    const why = status?.state?.waiting?.reason ?? 'ContainerCreating'
    throw new HttpError(
      400,
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
function logText(lines: readonly LogLine[], { sinceMs, tailLines, timestamps }: LogOptions): string {
  const recent = sinceMs === undefined ? lines : lines.filter(({ time }) => time >= sinceMs)
  const wanted = tailLines === undefined ? recent : tailLines === 0 ? [] : recent.slice(-tailLines)
  return wanted
    .map(({ time, text }) => `${timestamps ? `${new Date(time).toISOString().replace('Z', '000000Z')} ` : ''}${text}\n`)
    .join('')
}
