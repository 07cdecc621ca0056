/** Calls of the C library that Node lacks: pipes, terminals, files of other processes, sockets in other namespaces. */
import { closeSync, openSync } from 'node:fs'
import { constants } from 'node:os'

const pidfdOpenCall = 434
const pidfdGetfdCall = 438
/** Unlocks the slave of a terminal. */
const tiocsptlck = 0x4004_5431
/** The number of a terminal. */
const tiocgptn = 0x8004_5430
const tiocswinsz = 0x5414
const closeOnExec = 0x8_0000
const nonBlocking = 0x800
const stream = 1
/** WNOHANG. */
const withoutWaiting = 1
const newNetwork = 0x4000_0000

export interface TerminalSize {
  readonly width: number
  readonly height: number
}

export interface Libc {
  /** The ends for reading and writing. Unlike Node's own, programs can open them by `/dev/stdout`. */
  pipe(): [read: number, write: number]
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

let loading: Promise<Libc> | undefined

/** Rejects if the optional package koffi is missing. */
export function loadLibc(): Promise<Libc> {
  loading ??= load()
  return loading
}

async function load(): Promise<Libc> {
  const { default: koffi } = await import('koffi')
  const library = koffi.load('libc.so.6')
  const bind = (declaration: string): Call => library.func(declaration) as unknown as Call
  const checked = (name: string, result: number): number => {
    if (result < 0) throw failure(name, koffi.errno())
    return result
  }
  return { ...fileCalls(bind, checked), ...networkCalls(bind, checked), ...processCalls(bind) }
}

type Call = (...values: (number | string | Buffer | Int32Array | null)[]) => number
type Bind = (declaration: string) => Call
/** Throws the error of a call that has returned a negative number. */
type Checked = (name: string, result: number) => number

function failure(name: string, number: number): NodeJS.ErrnoException {
  const [code = String(number)] = Object.entries(constants.errno).find(([, value]) => value === number) ?? []
  const error: NodeJS.ErrnoException = new Error(`${name}: ${code}`)
  error.code = code
  return error
}

function processCalls(bind: Bind): Pick<Libc, 'reap'> {
  const waitpid = bind('int waitpid(int pid, void *status, int options)')
  return {
    reap(pid) {
      // Somebody else may have read it.
      waitpid(pid, null, withoutWaiting)
    },
  }
}

function fileCalls(bind: Bind, checked: Checked): Omit<Libc, 'reap' | 'connectIn'> {
  const call = bind('long syscall(long number, long a, long b, long c)')
  const pipe2 = bind('int pipe2(int *files, int flags)')
  const ioctl = bind('int ioctl(int file, unsigned long request, void *argument)')
  const control = (file: number, request: number, argument: Buffer): void =>
    void checked('ioctl', ioctl(file, request, argument))
  return {
    pipe() {
      const files = new Int32Array(2)
      checked('pipe2', pipe2(files, closeOnExec))
      return [files[0]!, files[1]!]
    },
    takeFile(pid, file) {
      const process = checked('pidfd_open', call(pidfdOpenCall, pid, 0, 0))
      try {
        return checked('pidfd_getfd', call(pidfdGetfdCall, process, file, 0))
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

function networkCalls(bind: Bind, checked: Checked): Pick<Libc, 'connectIn'> {
  const setns = bind('int setns(int file, int type)')
  const socket = bind('int socket(int domain, int type, int protocol)')
  const connect = bind('int connect(int file, void *address, int length)')
  /** Connects without waiting; the kernel answers for its own addresses immediately. */
  const open = ({ family, address }: LoopbackAddress): number => {
    const file = checked('socket', socket(family, stream | nonBlocking | closeOnExec, 0))
    try {
      checked('connect', connect(file, address, address.length))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EINPROGRESS') return file
      closeSync(file)
      throw error
    }
    return file
  }
  const openAny = ([v4, v6]: readonly [LoopbackAddress, LoopbackAddress]): number => {
    try {
      return open(v4)
    } catch (error) {
      try {
        return open(v6)
      } catch {
        throw error
      }
    }
  }
  return {
    connectIn(namespace, port) {
      const own = openSync('/proc/thread-self/ns/net', 'r')
      const other = openSync(namespace, 'r')
      try {
        checked('setns', setns(other, newNetwork))
        try {
          return openAny(loopback(port))
        } finally {
          checked('setns', setns(own, newNetwork))
        }
      } finally {
        closeSync(other)
        closeSync(own)
      }
    },
  }
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
