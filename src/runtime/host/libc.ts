/** Calls of the C library that Node lacks: pipes, terminals, files of other processes, sockets in other namespaces. */
import { closeSync } from 'node:fs'
import { type CLibrary, cLibrary } from '../../lib/linux/c-library.ts'
import { inNetwork } from '../../lib/linux/network-namespace.ts'
import { systemCalls } from '../../lib/linux/system-calls.ts'

const pidfdOpenCall = 434
const pidfdGetfdCall = 438
/** Unlocks the slave of a terminal. */
const tiocsptlck = 0x4004_5431
/** The number of a terminal. */
const tiocgptn = 0x8004_5430
const tiocswinsz = 0x5414
const fionread = 0x541b
/** SPLICE_F_NONBLOCK. */
const doNotWait = 2
const maxMovedBytes = 65_536
const closeOnExec = 0x8_0000
const nonBlocking = 0x800
const stream = 1
/** WNOHANG. */
const withoutWaiting = 1

export interface TerminalSize {
  readonly width: number
  readonly height: number
}

export interface Libc {
  /** The ends for reading and writing. Unlike Node's own, programs can open them by `/dev/stdout`. */
  pipe(): [read: number, write: number]
  /** Makes a FIFO that only its owner can open. */
  makeFifo(path: string): void
  /** The bytes that a FIFO holds. */
  pendingBytes(fifo: number): number
  /** Moves at most 64 KiB from a FIFO to a position of a file, in one step. Returns the bytes moved. */
  moveBytes(fifo: number, file: number, position: number): number
  /** A copy of a file that another process has open. */
  takeFile(pid: number, file: number): number
  /** Unlocks a terminal and returns the path of its slave. */
  unlockTerminal(master: number): string
  resizeTerminal(terminal: number, size: TerminalSize): void
  /** Reads the exit code of a child that has ended. */
  reap(pid: number): void
  /** A socket in another network namespace that connects to a port of its loopback address. */
  connectIn(namespace: string, port: number): number
}

let loaded: Libc | undefined

/** Loads the calls once for the thread. Throws if the optional package koffi is missing. */
export function loadLibc(): Libc {
  loaded ??= load(cLibrary())
  return loaded
}

const load = (library: CLibrary): Libc => ({ ...fileCalls(library), ...processCalls(library), connectIn })

function processCalls({ declare }: CLibrary): Pick<Libc, 'reap'> {
  const waitpid = declare<[pid: number, status: null, options: number]>(
    'int waitpid(int pid, void *status, int options)',
  )
  return {
    reap(pid) {
      // Somebody else may have read it.
      waitpid(pid, null, withoutWaiting)
    },
  }
}

function fileCalls({ declare, check }: CLibrary): Omit<Libc, 'reap' | 'connectIn'> {
  const call = declare<[call: number, a: number, b: number, c: number]>(
    'long syscall(long number, long a, long b, long c)',
  )
  const pipe2 = declare<[files: Int32Array, flags: number]>('int pipe2(int *files, int flags)')
  const ioctl = declare<[file: number, request: number, argument: Buffer]>(
    'int ioctl(int file, unsigned long request, void *argument)',
  )
  const splice = declare<[from: number, fromOffset: null, to: number, offset: Buffer, length: number, flags: number]>(
    'intptr_t splice(int from, void *fromOffset, int to, void *offset, size_t length, unsigned int flags)',
  )
  const mkfifo = declare<[path: string, mode: number]>('int mkfifo(const char *path, unsigned int mode)')
  const control = (file: number, request: number, argument: Buffer): void =>
    void check('ioctl', ioctl(file, request, argument))
  return {
    pipe() {
      const files = new Int32Array(2)
      check('pipe2', pipe2(files, closeOnExec))
      return [files[0]!, files[1]!]
    },
    makeFifo(path) {
      check(`mkfifo ${path}`, mkfifo(path, 0o600))
    },
    pendingBytes(fifo) {
      const number = Buffer.alloc(4)
      control(fifo, fionread, number)
      return number.readInt32LE()
    },
    moveBytes(fifo, file, position) {
      const offset = Buffer.alloc(8)
      offset.writeBigInt64LE(BigInt(position))
      return check('splice', splice(fifo, null, file, offset, maxMovedBytes, doNotWait))
    },
    takeFile(pid, file) {
      const process = check('pidfd_open', call(pidfdOpenCall, pid, 0, 0))
      try {
        return check('pidfd_getfd', call(pidfdGetfdCall, process, file, 0))
      } finally {
        closeSync(process)
      }
    },
    unlockTerminal(master) {
      const number = Buffer.alloc(4)
      control(master, tiocsptlck, number)
      control(master, tiocgptn, number)
      return `/dev/pts/${number.readInt32LE()}`
    },
    resizeTerminal(terminal, { width, height }) {
      control(terminal, tiocswinsz, Buffer.from(new Uint16Array([height, width, 0, 0]).buffer))
    },
  }
}

function connectIn(namespace: string, port: number): number {
  const [v4, v6] = loopback(port)
  return inNetwork(systemCalls(), namespace, () => {
    try {
      return open(v4)
    } catch (error) {
      try {
        return open(v6)
      } catch {
        throw error
      }
    }
  })
}

/** Connects without waiting; the kernel answers for its own addresses immediately. */
function open({ family, address }: LoopbackAddress): number {
  const calls = systemCalls()
  const file = calls.socket(family, stream | nonBlocking | closeOnExec, 0)
  try {
    calls.connect(file, address)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EINPROGRESS') return file
    closeSync(file)
    throw error
  }
  return file
}

interface LoopbackAddress {
  readonly family: number
  /** A `sockaddr_in` or `sockaddr_in6`. */
  readonly address: Buffer
}

function loopback(port: number): [v4: LoopbackAddress, v6: LoopbackAddress] {
  const v4 = Buffer.alloc(16)
  v4.writeUInt16LE(2, 0)
  v4.writeUInt16BE(port, 2)
  v4.set([127, 0, 0, 1], 4)
  const v6 = Buffer.alloc(28)
  v6.writeUInt16LE(10, 0)
  v6.writeUInt16BE(port, 2)
  v6[23] = 1
  return [
    { family: 2, address: v4 },
    { family: 10, address: v6 },
  ]
}
