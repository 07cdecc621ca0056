/**
 * Functions of the C library that Node lacks, through the optional package koffi. They run on the calling thread and
 * block: use them for calls that the kernel answers immediately. Only the native part of koffi is loaded: its package
 * contains one platform and needs no script to install, while that of koffi itself runs one.
 */
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { getSystemErrorMap } from 'node:util'

/** Strings are given as terminated UTF-8; a Buffer is a pointer to its bytes, an object one to a struct. */
type CValue = number | bigint | string | Uint8Array | Int32Array | Readonly<Record<string, unknown>> | CStrings | null
/** An array of strings, which ends with null. */
type CStrings = readonly (string | null)[]

export interface CLibrary {
  /**
   * Declares a function by its C prototype. Call it through `check`, immediately: koffi keeps one `errno` for a thread.
   * @example const close = library.declare<[fd: number]>('int close(int fd)')
   */
  declare<Arguments extends readonly CValue[]>(prototype: string): (...values: Arguments) => number
  /** Defines a struct by its members and their C types, once, for prototypes that name it. */
  struct(name: string, members: Readonly<Record<string, string>>): void
  /**
   * Returns the result of a call.
   * @throws a `SystemCallError` for a negative one; `call` names it: `mount /mnt`.
   */
  check(call: string, result: number): number
  /** The number of the error of the last call that failed on this thread: loops need it without an exception. */
  errno(): number
  /** The address of memory, for structs with pointers (`uintptr_t`). The memory must live as long as it is used. */
  addressOf(memory: Uint8Array): number
}

/** A failed system call; `code` is the name of the error, for example `EPERM`. */
export class SystemCallError extends Error {
  readonly code: string

  constructor(call: string, errno: number) {
    // libuv has texts, but not for all errors; EINPROGRESS is one without.
    const [known, text] = getSystemErrorMap().get(-errno) ?? []
    const code = known ?? codeOf(errno)
    super(`${call}: ${text ? `${text} (${code})` : code}`)
    this.name = 'SystemCallError'
    this.code = code
  }
}

function codeOf(errno: number): string {
  const [code = `error ${errno}`] = Object.entries(constants.errno).find(([, value]) => value === errno) ?? []
  return code
}

/** Throws if the error is not a `SystemCallError` with one of the codes. */
export function ignoreErrors(error: unknown, ...codes: readonly string[]): void {
  if (!(error instanceof SystemCallError) || !codes.includes(error.code)) throw error
}

/** The package with koffi's native part for this machine. */
export const cLibraryPackage = `@koromix/koffi-${process.platform}-${process.arch}`

let loaded: CLibrary | undefined

/**
 * Loads the library once for the thread.
 * @throws if koffi is not installed, or does not support the machine.
 */
export function cLibrary(): CLibrary {
  loaded ??= load()
  return loaded
}

/** True if koffi is installed. Loads nothing. */
export function hasCLibrary(): boolean {
  try {
    createRequire(import.meta.url).resolve(cLibraryPackage)
    return true
  } catch {
    return false
  }
}

function load(): CLibrary {
  const koffi = requireKoffi()
  // All that the process has loaded: the name of the library differs between systems.
  const library = koffi.load(null)
  return {
    declare: (prototype) => library.func(prototype) as unknown as (...values: readonly CValue[]) => number,
    struct: (name, members) => void koffi.struct(name, members),
    check(call, result) {
      if (result < 0) throw new SystemCallError(call, koffi.errno())
      return result
    },
    errno: () => koffi.errno(),
    addressOf: (memory) => Number(koffi.address(memory)),
  }
}

function requireKoffi(): typeof import('koffi') {
  try {
    return createRequire(import.meta.url)(cLibraryPackage) as typeof import('koffi')
  } catch (error) {
    throw new Error(
      `system calls need the package ${cLibraryPackage}, which is not installed: run npm install without --omit, or ` +
        `npm install ${cLibraryPackage}`,
      { cause: error },
    )
  }
}
