/** The flags about encryption at rest. */
import { readFileSync } from 'node:fs'
import { type EncryptionOptions, readEncryptionConfiguration } from '../../apiserver/encryption/index.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { type FlagPlace, pathOf } from './flag-place.ts'

/**
 * Undefined where no flag asks for it. Throws an ExplainedError for a file that cannot be read or says what cannot be.
 */
export function encryptionOptions(place: FlagPlace): EncryptionOptions | undefined {
  const file = pathOf(place, 'encryption-provider-config')
  const reload = place.flags.bool('encryption-provider-config-automatic-reload')
  if (!file) {
    if (reload)
      throw new ExplainedError(
        '--encryption-provider-config-automatic-reload must be set with --encryption-provider-config',
      )
    return undefined
  }
  try {
    const text = readFileSync(file, 'utf8')
    readEncryptionConfiguration(text)
    return { file, text, reload }
  } catch (error) {
    throw new ExplainedError(
      `error while parsing encryption provider configuration file ${JSON.stringify(file)}: ${reasonOf(error)}`,
      { cause: error },
    )
  }
}
