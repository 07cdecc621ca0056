/** The flags of encryption at rest. */
import { readFileSync } from 'node:fs'
import { type EncryptionOptions, readEncryptionConfiguration } from '../../apiserver/encryption/index.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { type FlagContext, pathOf } from './flag-context.ts'

/** Undefined if no flag requests it. Throws an ExplainedError for a file that is unreadable or invalid. */
export function encryptionOptions(context: FlagContext): EncryptionOptions | undefined {
  const file = pathOf(context, 'encryption-provider-config')
  const reload = context.flags.bool('encryption-provider-config-automatic-reload')
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
