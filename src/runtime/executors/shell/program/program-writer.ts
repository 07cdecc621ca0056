/** Writes a program that makes system calls one after another, and ends with the first one that fails. */
import { constants } from 'node:os'
import { contentAddress, staticProgram } from '../../../host/static-program.ts'
import { machineCodes } from './machine-code.ts'
import { type CallName, callNumber } from './system-calls.ts'

/** A number, the address of data, or a text, which is passed by its address. */
export type CallArgument = number | bigint | string

type ErrorName = keyof typeof constants.errno

export interface CallOptions {
  /** Errors after which the program continues. */
  readonly ignored?: readonly ErrorName[] | 'all'
  /** The message of an error. Default: the name of the call. */
  readonly message?: string
  /** The label of the next call after an error. Default: the program ends. */
  readonly onError?: string
  /** The label of the next call if the result is positive. */
  readonly onPositive?: string
  /** After an error. Default: 126. */
  readonly exitCode?: number
}

interface Entry {
  readonly words: readonly bigint[]
  readonly options: CallOptions
  readonly message: number
  readonly messageBytes: number
}

/**
 * The program is started with three more files: 3 is the log, and 4 closes when the container has started. The third
 * takes the place of the errors.
 */
export const errorFile = 5
/** The program closes the file of errors first. */
const firstFree = errorFile

const wordBytes = 8
const entryBytes = 12 * wordBytes
/** Ends the program with an exit status. */
const finish = -2n
const unsigned = (value: number | bigint): bigint => BigInt.asUintN(64, BigInt(value))

export class ProgramWriter {
  readonly #architecture: string
  readonly #code: Buffer
  readonly #machine: number
  readonly #data: Buffer[] = []
  readonly #texts = new Map<string, number>()
  readonly #entries: Entry[] = []
  readonly #labels = new Map<string, number>()
  readonly #files = new Set<number>()
  #dataBytes = 0

  /** Throws an Error for an architecture without machine code. */
  constructor(architecture: string = process.arch) {
    const machine = Object.hasOwn(machineCodes, architecture) ? machineCodes[architecture] : undefined
    if (!machine)
      throw new Error(
        `containers without crun or runc need a machine of the architecture x64 or arm64, not ${architecture}`,
      )
    this.#architecture = architecture
    this.#code = machine.code
    this.#machine = machine.machine
  }

  call(name: CallName, args: readonly CallArgument[], options: CallOptions = {}): void {
    this.#add(BigInt(callNumber(name, this.#architecture)), args, { message: name, ...options })
  }

  /** A call that opens a file. Returns its number. It must be closed before the next one is opened if it may fail. */
  open(name: CallName, args: readonly CallArgument[], options: CallOptions = {}): number {
    this.call(name, args, options)
    let file = firstFree
    while (this.#files.has(file)) file++
    this.#files.add(file)
    return file
  }

  close(file: number): void {
    this.#files.delete(file)
    this.call('close', [file], { ignored: ['EBADF'] })
  }

  /** Ends the program with the exit status at an address, as `wait4` writes it. */
  finish(status: number): void {
    this.#add(finish, [status], {})
  }

  /** Goes on at a label. */
  jump(label: string): void {
    this.call('getpid', [], { onPositive: label })
  }

  /** The next call has this label. */
  label(name: string): void {
    this.#labels.set(name, this.#entries.length)
  }

  /** Adds data, which the program can change. Returns its address. */
  data(bytes: Buffer): number {
    const address = this.#dataAddress + this.#dataBytes
    const padding = -bytes.length & (wordBytes - 1)
    this.#data.push(bytes, Buffer.alloc(padding))
    this.#dataBytes += bytes.length + padding
    return address
  }

  /** Adds a text that ends with a zero byte, once. Returns its address. */
  text(value: string): number {
    const known = this.#texts.get(value)
    if (known !== undefined) return known
    const address = this.data(Buffer.from(`${value}\0`))
    this.#texts.set(value, address)
    return address
  }

  /** Adds an array of texts that ends with a null pointer. Returns its address. */
  texts(values: readonly string[]): number {
    return this.data(words([...values.map((value) => BigInt(this.text(value))), 0n]))
  }

  /** The bytes of the program, an executable file. */
  write(): Buffer {
    const table = this.#dataAddress + this.#dataBytes
    const addressOf = (label: string | undefined): bigint => {
      if (label === undefined) return 0n
      const index = this.#labels.get(label)
      if (index === undefined) throw new Error(`no call has the label ${label}`)
      return BigInt(table + index * entryBytes)
    }
    const entries = this.#entries.map(({ words: start, options, message, messageBytes }) => {
      const last = BigInt(messageBytes) | (BigInt(options.exitCode ?? defaultExitCode) << 32n)
      return words([
        ...start,
        maskOf(options.ignored),
        addressOf(options.onPositive),
        addressOf(options.onError),
        BigInt(message),
        last,
      ])
    })
    const content = Buffer.concat([this.#code, words([BigInt(table)]), ...this.#data, ...entries])
    return staticProgram({ machine: this.#machine, content, isWritable: true })
  }

  get #dataAddress(): number {
    return contentAddress + this.#code.length + wordBytes
  }

  #add(number: bigint, args: readonly CallArgument[], options: CallOptions): void {
    const values = args.map((value) => (typeof value === 'string' ? BigInt(this.text(value)) : unsigned(value)))
    const padding = Array.from({ length: 6 - values.length }, () => 0n)
    const { message = '' } = options
    this.#entries.push({
      words: [unsigned(number), ...values, ...padding],
      options,
      // The byte of the error's number follows a zero byte.
      message: this.text(message),
      messageBytes: Buffer.byteLength(message) + 1,
    })
  }
}

const defaultExitCode = 126

const words = (values: readonly bigint[]): Buffer => Buffer.from(new BigUint64Array(values).buffer)

function maskOf(ignored: CallOptions['ignored']): bigint {
  if (ignored === 'all') return unsigned(-1)
  let mask = 0n
  for (const name of ignored ?? []) mask |= 1n << BigInt(constants.errno[name])
  return mask
}
