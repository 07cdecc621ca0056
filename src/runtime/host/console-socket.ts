/**
 * Sockets at which OCI runtimes deliver the master of a container's terminal, by SCM_RIGHTS: Node cannot receive files.
 * See the option `--console-socket` of runc and crun.
 */
import { closeSync, openSync, rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { cLibrary } from '../../lib/linux/c-library.ts'

const unixFamily = 1
const streamType = 1
const nonBlocking = 0x800
const closeOnExec = 0x8_0000
/** MSG_CMSG_CLOEXEC. */
const closeReceivedOnExec = 0x4000_0000
/** A `sockaddr_un`: two bytes of the family, and the path with its end. */
const addressBytes = 110
/** A `cmsghdr` with one file; the file is behind length, level and type. */
const controlBytes = 24
const fileOffset = 16
/** The executor connects within some ms. */
const pollMs = 2

const load = () => {
  const { declare, struct } = cLibrary()
  struct('t8s_iovec', { base: 'void *', length: 'size_t' })
  struct('t8s_msghdr', {
    name: 'void *',
    nameLength: 'uint32_t',
    vector: 't8s_iovec *',
    vectorLength: 'size_t',
    control: 'void *',
    controlLength: 'size_t',
    flags: 'int',
  })
  return {
    socket: declare<[number, number, number]>('int socket(int family, int type, int protocol)'),
    bind: declare<[number, Buffer, number]>('int bind(int file, void *address, uint32_t length)'),
    listen: declare<[number, number]>('int listen(int file, int backlog)'),
    accept: declare<[number, null, null, number]>('int accept4(int file, void *address, void *length, int flags)'),
    receive: declare<[number, Message, number]>('intptr_t recvmsg(int file, _Inout_ t8s_msghdr *message, int flags)'),
  }
}

type SocketCalls = ReturnType<typeof load>
type Message = ReturnType<typeof messageWith>

let loaded: SocketCalls | undefined

export interface ConsoleSocket {
  /** Resolves with the file, which the caller closes; with undefined once `isOver` returns true. */
  receive(isOver: () => boolean): Promise<number | undefined>
  close(): void
}

/** Listens at a path. Throws an Error if the kernel refuses it. */
export function openConsoleSocket(path: string): ConsoleSocket {
  loaded ??= load()
  const calls = loaded
  const listener = listenAt(calls, path)
  return {
    async receive(isOver) {
      const connection = await poll(() => calls.accept(listener, null, null, nonBlocking | closeOnExec), isOver)
      if (connection === undefined) return undefined
      const control = Buffer.alloc(controlBytes)
      const message = messageWith(control)
      const received = await poll(() => calls.receive(connection, message, closeReceivedOnExec), isOver)
      closeSync(connection)
      return received ? control.readInt32LE(fileOffset) : undefined
    },
    close() {
      closeSync(listener)
      rmSync(path, { force: true })
    },
  }
}

/** Paths of sockets have 107 bytes at most: the folder is named by its file instead. */
function listenAt(calls: SocketCalls, path: string): number {
  // That of a process which was killed.
  rmSync(path, { force: true })
  const folder = openSync(dirname(path), 'r')
  const listener = calls.socket(unixFamily, streamType | nonBlocking | closeOnExec, 0)
  try {
    const address = Buffer.alloc(addressBytes)
    address.writeUInt16LE(unixFamily)
    address.write(`/proc/self/fd/${folder}/${basename(path)}`, 2)
    if (calls.bind(listener, address, addressBytes) < 0 || calls.listen(listener, 1) < 0)
      throw new Error(`cannot listen at ${path}`)
    return listener
  } catch (error) {
    closeSync(listener)
    throw error
  } finally {
    closeSync(folder)
  }
}

const messageWith = (control: Buffer) => ({
  name: null,
  nameLength: 0,
  vector: [{ base: Buffer.alloc(4096), length: 4096 }],
  vectorLength: 1,
  control,
  controlLength: control.length,
  flags: 0,
})

/** Repeats a call until it succeeds. */
async function poll(call: () => number, isOver: () => boolean): Promise<number | undefined> {
  for (;;) {
    // After the end of the executor, its message may still wait to be received.
    const isLast = isOver()
    const result = call()
    if (result >= 0) return result
    if (isLast) return undefined
    await delay(pollMs)
  }
}
