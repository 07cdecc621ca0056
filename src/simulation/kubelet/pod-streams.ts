/** Streams of simulated pods: they answer that the pod is simulated, and what would have been done. */

import type { Duplex } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import type { Pod } from '../../client/kinds.ts'
import { own } from '../../lib/own.ts'
import type { LogOptions } from '../../node/server/log-options.ts'
import type { ContainerReference, ContainerStreams, PodReference } from '../../node/streaming/container-streams.ts'
import type { RemoteCommand } from '../../node/streaming/remote-command/remote-command.ts'
import { annotationPrefix } from '../names.ts'
import { containerLog, type LivePod } from './logs.ts'

export const simulatedStreams = (podOf: (reference: PodReference) => LivePod): ContainerStreams => ({
  exec: (container, words, command) => exec(podOf(container).current(), container, words, command),
  attach: (container, command) => attach(podOf(container), container, command),
  portForward: (pod, port, connection) => answerConnection(podOf(pod).current(), pod, port, connection),
})

/** Answers that the command was not executed, with the exit code of an annotation. Default: 0. */
async function exec(
  pod: Pod | undefined,
  { namespace, name, container }: ContainerReference,
  words: readonly string[],
  { stdin, stdout, stderr, isTerminal, canEndInput }: RemoteCommand,
): Promise<number> {
  const text =
    `pod ${namespace}/${name} is simulated on ${pod?.spec?.nodeName}: nothing runs in container ${container}, and ` +
    `this command was not executed: ${words.join(' ')}`
  if (stderr) stderr.write(`${text}\n`)
  else stdout?.write(`${text}\r\n`)
  // The input is read to its end; otherwise the writer would get an error.
  if (stdin) stdin.resume()
  if (stdin && !isTerminal && canEndInput) await finished(stdin, { writable: false }).catch(() => {})
  const annotations = pod?.metadata.annotations ?? {}
  const code =
    own(annotations, `${annotationPrefix}exec-exit-code.${container}`) ??
    own(annotations, `${annotationPrefix}exec-exit-code`) ??
    '0'
  return /^\d{1,3}$/.test(code) ? Number(code) : 0
}

const followed: LogOptions = {
  follow: true,
  previous: false,
  timestamps: false,
  sinceMs: undefined,
  tailLines: undefined,
  limitBytes: undefined,
  stream: 'All',
}

/** Writes the log of a container until it ends or the client leaves. */
async function attach(
  pod: LivePod,
  { container }: ContainerReference,
  { stdin, stdout, signal }: RemoteCommand,
): Promise<void> {
  stdin?.resume()
  const log = containerLog(pod, container, followed, signal)
  if (stdout) await pipeline(log, stdout)
}

/** Answers a forwarded connection with a text about its target, when the client has sent something. */
async function answerConnection(
  pod: Pod | undefined,
  { namespace, name }: PodReference,
  port: number,
  connection: Duplex,
): Promise<void> {
  const text = `pod ${namespace}/${name} is simulated on ${pod?.spec?.nodeName}: nothing listens on its port ${port}\n`
  const { promise, resolve } = Promise.withResolvers<void>()
  connection.once('data', (chunk: Buffer) => {
    connection.write(/^[A-Z]+ \S+ HTTP\/1/.test(chunk.toString('latin1')) ? httpAnswer(text) : text)
    resolve()
  })
  connection.once('end', resolve)
  connection.once('close', resolve)
  await promise
}

const httpAnswer = (text: string): string =>
  'HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ' +
  `${Buffer.byteLength(text)}\r\nConnection: close\r\nServer: t8s-simulated-node\r\n\r\n${text}`
