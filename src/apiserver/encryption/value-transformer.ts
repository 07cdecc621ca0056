/** Value transformers: what stands between an object's bytes and what the store holds of them. */

export interface Decrypted {
  readonly value: Buffer
  /** It would be written in another form today: with another key, or by another provider. */
  readonly stale: boolean
}

/**
 * `key` is where the value stands in the store: authenticated with it, so that nobody can put one value in another's place. Gives a
 * promise only if somebody else has to be asked. Throws an Error where the value cannot be read.
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

/** Writes with the first of several transformers, and reads with that whose prefix a value has. */
export function byPrefix(choices: readonly PrefixedTransformer[]): ValueTransformer {
  const known = choices.map(({ prefix, transformer }) => ({ prefix: Buffer.from(prefix), transformer }))
  const [first] = known
  if (!first) throw new Error('there is no provider')
  return {
    encrypt(value, key) {
      const stored = first.transformer.encrypt(value, key)
      return first.prefix.length > 0 ? Buffer.concat([first.prefix, stored]) : stored
    },
    decrypt(stored, key) {
      for (const choice of known) {
        if (!startsWith(stored, choice.prefix)) continue
        // Only what is not encrypted is nobody's.
        if (choice.prefix.length === 0 && startsWith(stored, encrypted)) continue
        const decrypted = choice.transformer.decrypt(stored.subarray(choice.prefix.length), key)
        if (choice === first) return decrypted
        return decrypted instanceof Promise ? decrypted.then(outdated) : outdated(decrypted)
      }
      throw new Error('no matching prefix found')
    },
  }
}

const outdated = ({ value }: Decrypted): Decrypted => ({ value, stale: true })

const startsWith = (value: Buffer, prefix: Buffer): boolean => value.length >= prefix.length && value.compare(prefix, 0, prefix.length, 0, prefix.length) === 0
