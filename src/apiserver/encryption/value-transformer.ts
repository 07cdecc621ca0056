/** Value transformers: what stands between an object's bytes and what the store holds of them. */
import { aggregated } from '../../lib/go/aggregate.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Direction } from './metrics.ts'

export interface Decrypted {
  readonly value: Buffer
  /** It would be written in another form today: with another key, or by another provider. */
  readonly stale: boolean
}

/**
 * `key` is where the value stands in the store: authenticated with it, so that nobody can put one value in another's
 * place. Gives a promise only if somebody else has to be asked. Throws an Error where the value cannot be read.
 */
export interface ValueTransformer {
  encrypt(value: Buffer, key: string): Buffer
  decrypt(stored: Buffer, key: string): Decrypted | Promise<Decrypted>
}

/** A transformer and what its values begin with. */
export interface PrefixedTransformer {
  /** `k8s:enc:aescbc:v1:key1:`; empty for what is stored as it is. */
  readonly prefix: string
  readonly transformer: ValueTransformer
}

const encrypted = Buffer.from('k8s:enc:')

/** Values as they are. */
export const identity: ValueTransformer = {
  encrypt: (value) => value,
  decrypt(stored) {
    if (startsWith(stored, encrypted)) throw new Error('identity transformer tried to read encrypted data')
    return { value: stored, stale: false }
  },
}

/** Is told of each value that a provider or a key was tried for; see EncryptionMetrics. */
export type Transformed = (direction: Direction, prefix: string, seconds: number, error?: unknown) => void

interface Choice {
  readonly name: string
  readonly prefix: Buffer
  readonly transformer: ValueTransformer
}

/**
 * Writes with the first of several transformers, and reads with those whose prefix a value has, until one can: two
 * providers of a kind have the same prefix while keys are changed. `unknown` is what is wrong with a value that has
 * none of the prefixes.
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
      // That a value is encrypted is no fault of what is stored as it is: somebody else is to read it.
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

/** Seconds since a `performance.now()`. */
const since = (start: number): number => (performance.now() - start) / 1000

/** Why nobody could read a value. */
function unreadable(errors: readonly unknown[], noneTried: () => void, unknown: string): Error {
  if (errors.length === 1 && errors[0] instanceof Error) return errors[0]
  if (errors.length > 0) return new Error(aggregated(errors.map(messageOf)), { cause: errors[0] })
  noneTried()
  return new Error(unknown)
}

const startsWith = (value: Buffer, prefix: Buffer): boolean =>
  value.length >= prefix.length && value.compare(prefix, 0, prefix.length, 0, prefix.length) === 0
