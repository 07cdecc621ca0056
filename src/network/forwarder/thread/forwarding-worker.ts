/** The thread of a forwarder. It waits in epoll and not in Node's loop, and reads commands when an eventfd wakes it. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { errorCode } from '../../../lib/explained-error.ts'
import { messageOf } from '../../../lib/message-of.ts'
import {
  type ForwarderCommand,
  type ForwarderReport,
  type ForwarderStart,
  type Listener,
  type ListenerFailure,
  listenerKey,
} from '../listener.ts'
import { EventLoop, ready } from './event-loop.ts'
import { socketCalls } from './socket-calls.ts'
import { TargetChoice } from './target-choice.ts'
import { Pipes } from './tcp/pipes.ts'
import type { ConnectionRoom } from './tcp/tcp-connection.ts'
import { TcpListener } from './tcp/tcp-listener.ts'
import { UdpListener } from './udp/udp-listener.ts'

const { wake } = workerData as ForwarderStart
const calls = socketCalls()
const loop = new EventLoop(calls)
const room: ConnectionRoom = { calls, loop, pipes: new Pipes(calls), connections: new Set(), fresh: [] }
const listeners = new Map<string, { readonly group: string; readonly socket: TcpListener | UdpListener }>()
const choices = new Map<string, TargetChoice>()

function handle(command: ForwarderCommand): void {
  if ('stop' in command) loop.stop()
  else change(command)
}

function change(command: Extract<ForwarderCommand, { readonly id: number }>): void {
  const failures: ListenerFailure[] = []
  for (const key of command.removed) remove(key)
  for (const listener of command.set) {
    const key = listenerKey(listener)
    try {
      set(key, listener)
    } catch (error) {
      remove(key)
      failures.push({ key, code: errorCode(error) ?? messageOf(error) })
    }
  }
  if (command.removed.length > 0) forgetGroups()
  parentPort?.postMessage({ id: command.id, failures } satisfies ForwarderReport)
}

function remove(key: string): void {
  listeners.get(key)?.socket.close()
  listeners.delete(key)
}

function set(key: string, listener: Listener): void {
  const { group, protocol } = listener
  const choice = choices.get(group) ?? new TargetChoice()
  choices.set(group, choice)
  const known = listeners.get(key)
  if (known?.group === group) {
    known.socket.update(listener)
    return
  }
  remove(key)
  const Socket = protocol === 'TCP' ? TcpListener : UdpListener
  listeners.set(key, { group, socket: new Socket(room, listener, choice) })
}

function forgetGroups(): void {
  const used = new Set([...listeners.values()].map(({ group }) => group))
  for (const group of choices.keys()) if (!used.has(group)) choices.delete(group)
}

function readCommands(): void {
  calls.read(wake, Buffer.alloc(8), 8)
  for (let next = parentPort && receiveMessageOnPort(parentPort); next; next = receiveMessageOnPort(parentPort!))
    handle(next.message as ForwarderCommand)
}

loop.add(wake, ready.in, { onEvents: readCommands })
loop.eachSecond((now) => {
  const { fresh } = room
  room.fresh = []
  for (const connection of fresh) connection.keepAlive()
  for (const choice of choices.values()) choice.expire(now)
})
try {
  readCommands()
  loop.run()
} finally {
  // Sockets that Node does not know remain open after the thread.
  for (const { socket } of listeners.values()) socket.close()
  for (const connection of room.connections) connection.abort()
}
