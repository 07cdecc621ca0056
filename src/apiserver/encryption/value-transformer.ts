/** Value transformers convert between objects and their stored form. */
import { aggregated } from '../../lib/go/aggregate.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Direction } from './metrics.ts'

export interface Decrypted {
  readonly value: Buffer
  /** True if the value would be stored differently now: with another key or provider. */
  readonly stale: boolean
}

/**
 * `key` is the location of the value in the store. It is authenticated, so that a value cannot be moved. `decrypt`
 * returns a promise only if it calls a plug-in. Throws an Error for an unreadable value.
 */
export interface ValueTransformer {
  encrypt(value: Buffer, key: string): Buffer
  decrypt(stored: Buffer, key: string): Decrypted | Promise<Decrypted>
}

/** A transformer and the prefix of its values. */
export interface PrefixedTransformer {
  /** For example `k8s:enc:aescbc:v1:key1:`; empty for unencrypted values. */
  readonly prefix: string
  readonly transformer: ValueTransformer
}

const encrypted = Buffer.from('k8s:enc:')

/** Stores values unencrypted. */
export const identity: ValueTransformer = {
  encrypt: (value) => value,
  decrypt(stored) {
    if (startsWith(stored, encrypted)) throw new Error('identity transformer tried to read encrypted data')
    return { value: stored, stale: false }
  },
}

/** Called for each attempt of a provider or key; see EncryptionMetrics. */
export type Transformed = (direction: Direction, prefix: string, seconds: number, error?: unknown) => void

interface Choice {
  readonly name: string
  readonly prefix: Buffer
  readonly transformer: ValueTransformer
}

/**
 * Encrypts with the first transformer. Decrypts with those whose prefix matches, until one succeeds: during key
 * rotation two providers have the same prefix. `unknown` is the error for a value without a known prefix.
 */
export function byPrefix(
  choices: readonly PrefixedTransformer[],
  transformed: Transformed = () => {},
  unknown = 'no matching prefix found',
): ValueTransformer {
  const known: readonly Choice[] = choices.map(({ prefix, transformer }) => ({
    name: prefix || 'identity',
    prefix: Buffer.from(prefix),
    transformer,
  }))
  const [first] = known
  if (!first) throw new Error('there is no provider')
  const written = first.prefix.toString()

  const read = (
    stored: Buffer,
    key: string,
    from: number,
    start: number,
    errors: readonly unknown[],
  ): Decrypted | Promise<Decrypted> => {
    const at = known.findIndex(({ prefix }, index) => index >= from && startsWith(stored, prefix))
    const choice = known[at]
    if (!choice) throw unreadable(errors, () => transformed('from_storage', 'unknown', since(start), true), unknown)
    const done = ({ value, stale }: Decrypted): Decrypted => {
      transformed('from_storage', choice.name, since(start))
      return { value, stale: stale || at > 0 }
    }
    const failed = (error: unknown): Decrypted | Promise<Decrypted> => {
      // The identity transformer fails for encrypted values: the next transformer is tried, without an error.
      if (choice.prefix.length === 0) return read(stored, key, at + 1, start, errors)
      transformed('from_storage', choice.name, since(start), error)
      return read(stored, key, at + 1, start, [...errors, error])
    }
    let decrypted: Decrypted | Promise<Decrypted>
    try {
      decrypted = choice.transformer.decrypt(stored.subarray(choice.prefix.length), key)
    } catch (error) {
      return failed(error)
    }
    return decrypted instanceof Promise ? decrypted.then(done, failed) : done(decrypted)
  }

  return {
    encrypt(value, key) {
      const start = performance.now()
      try {
        const stored = first.transformer.encrypt(value, key)
        transformed('to_storage', written, since(start))
        return first.prefix.length > 0 ? Buffer.concat([first.prefix, stored]) : stored
      } catch (error) {
        transformed('to_storage', written, since(start), error)
        throw error
      }
    },
    decrypt: (stored, key) => read(stored, key, 0, performance.now(), []),
  }
}

/** The time in seconds since a `performance.now()`. */
const since = (start: number): number => (performance.now() - start) / 1000

/** The error for a value that no transformer could decrypt. */
function unreadable(errors: readonly unknown[], noneTried: () => void, unknown: string): Error {
  if (errors.length === 1 && errors[0] instanceof Error) return errors[0]
  if (errors.length > 0) return new Error(aggregated(errors.map(messageOf)), { cause: errors[0] })
  noneTried()
  return new Error(unknown)
}

const startsWith = (value: Buffer, prefix: Buffer): boolean =>
  value.length >= prefix.length && value.compare(prefix, 0, prefix.length, 0, prefix.length) === 0
