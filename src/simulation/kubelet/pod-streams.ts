/** Streams of simulated pods: they answer that the pod is simulated, and what would have been done. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Pod } from '../../client/kinds.ts'
import { own } from '../../lib/own.ts'
import { annotationPrefix } from '../names.ts'
import { isRunning, type LogOptions, logLines, logText } from './logs.ts'
import { acceptCommand, negotiate, switchProtocols } from './streams/remote-command.ts'
import { SpdyConnection, type SpdyStream } from './streams/spdy-connection.ts'

/** A pod that may change while it is in use. */
export interface LivePod {
  /** Undefined after the pod was deleted. */
  current(): Pod | undefined
  /** Calls `callback` on changes. Returns a function that stops it. */
  onChange(callback: () => void): () => void
}

/** Writes the log, and with `follow` the lines added until the container ends. Throws NoLogError. */
export function sendLog(response: ServerResponse, pod: LivePod, container: string, options: LogOptions): void {
  const lines = logLines(pod.current()!, container, options.previous)
  const text = logText(lines, options)
  response.writeHead(200, { 'content-type': 'text/plain' })
  response.write(options.limitBytes === undefined ? text : Buffer.from(text).subarray(0, options.limitBytes))
  if (!options.follow) {
    response.end()
    return
  }
  follow(
    pod,
    container,
    lines.length,
    (more) => response.write(logText(more, { ...options, tailLines: undefined })),
    () => response.end(),
    (ended) => response.on('close', ended),
  )
}

/** Writes new lines, from the `written`-th on, until the container ends or the client leaves (`onClientClose`). */
function follow(
  pod: LivePod,
  container: string,
  written: number,
  write: (lines: ReturnType<typeof logLines>) => void,
  end: () => void,
  onClientClose: (left: () => void) => void,
): void {
  const check = (): void => {
    const now = pod.current()
    if (now && isRunning(now, container)) return
    stop()
    if (now) write(logLines(now, container, false).slice(written))
    end()
  }
  const stop = pod.onChange(check)
  onClientClose(stop)
  check()
}

const requestedStreams = (query: URLSearchParams) => ({
  stdin: query.get('input') === '1',
  stdout: query.get('output') === '1',
  stderr: query.get('error') === '1' && query.get('tty') !== '1',
})

/** Answers that the command was not executed, with the exit code of an annotation. Default: 0. */
export async function serveExec(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  pod: Pod,
  container: string,
  query: URLSearchParams,
): Promise<boolean> {
  const wanted = requestedStreams(query)
  const command = await acceptCommand(request, socket, head, wanted)
  if (!command) return false
  const { namespace, name, annotations = {} } = pod.metadata
  const words = query.getAll('command').join(' ')
  const text =
    `pod ${namespace}/${name} is simulated on ${pod.spec?.nodeName}: nothing runs in container ${container}, and ` +
    `this command was not executed: ${words}`
  if (wanted.stderr) command.stderr(`${text}\n`)
  else command.stdout(`${text}\r\n`)
  const code =
    own(annotations, `${annotationPrefix}exec-exit-code.${container}`) ??
    own(annotations, `${annotationPrefix}exec-exit-code`) ??
    '0'
  const exit = (): void => command.exit(/^\d{1,3}$/.test(code) ? Number(code) : 0)
  // The input is read to its end; otherwise the writer would get an error.
  if (wanted.stdin && query.get('tty') !== '1') command.onInput(() => {}, exit)
  else exit()
  return true
}

/** Writes the log of a container until it ends or the client leaves. */
export async function serveAttach(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  pod: LivePod,
  container: string,
  query: URLSearchParams,
): Promise<boolean> {
  const command = await acceptCommand(request, socket, head, requestedStreams(query))
  if (!command) return false
  const options: LogOptions = {
    follow: true,
    previous: false,
    timestamps: false,
    sinceMs: undefined,
    tailLines: undefined,
    limitBytes: undefined,
  }
  const now = pod.current()
  const lines = now ? logLines(now, container, false) : []
  command.stdout(logText(lines, options))
  follow(
    pod,
    container,
    lines.length,
    (more) => command.stdout(logText(more, options)),
    () => command.exit(0),
    (left) => command.onClose(left),
  )
  return true
}

const forwardProtocols = ['portforward.k8s.io']

/** Answers each forwarded connection with a text about its target. */
export function servePortForward(request: IncomingMessage, socket: Duplex, head: Buffer, pod: Pod): boolean {
  if (!request.headers.upgrade?.toLowerCase().startsWith('spdy/3.1')) return false
  const version = negotiate(request.headers['x-stream-protocol-version'], forwardProtocols)
  switchProtocols(socket, { Upgrade: 'SPDY/3.1', ...(version && { 'X-Stream-Protocol-Version': version }) })
  new SpdyConnection(socket, head, (stream) => {
    if (stream.headers.streamtype === 'error') stream.end()
    else if (stream.headers.streamtype === 'data') answerConnection(stream, pod)
  })
  return true
}

function answerConnection(stream: SpdyStream, { metadata: { namespace, name }, spec }: Pod): void {
  const text =
    `pod ${namespace}/${name} is simulated on ${spec?.nodeName}: nothing listens on its port ` +
    `${stream.headers.port}\n`
  let isAnswered = false
  stream.listen(
    (chunk) => {
      if (isAnswered) return
      isAnswered = true
      stream.write(/^[A-Z]+ \S+ HTTP\/1/.test(chunk.toString('latin1')) ? httpAnswer(text) : text)
      stream.end()
    },
    () => stream.end(),
  )
}

const httpAnswer = (text: string): string =>
  'HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ' +
  `${Buffer.byteLength(text)}\r\nConnection: close\r\nServer: t8s-simulated-node\r\n\r\n${text}`
