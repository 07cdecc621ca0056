/** Parses and validates an authorization configuration. */
import { type AuthorizationConfiguration, parseConfiguration } from './configuration-file.ts'
import { configurationFaults } from './validate-configuration.ts'

/**
 * Throws an Error with all faults. `needed` are the types that a reloaded file must still have: their data is watched
 * from the start.
 */
export function loadConfiguration(text: string, needed: readonly string[] = []): AuthorizationConfiguration {
  const configuration = parsed(text)
  const faults = configurationFaults(configuration).map(({ field, message }) => `${field}: ${message}`)
  if (faults.length > 0) throw new Error(joined(faults))
  const { authorizers } = configuration
  const misnamed = authorizers
    .filter(({ type, name }) => type !== 'Webhook' && name !== type.toLowerCase())
    .map(({ type, name }) => `expected name ${type.toLowerCase()} for authorizer ${type} instead of ${name}`)
  const missing = needed.filter((type) => !authorizers.some((authorizer) => authorizer.type === type)).sort()
  const errors = [...misnamed, ...(missing.length > 0 ? [`missing required types: [${missing.join(' ')}]`] : [])]
  if (errors.length > 0) throw new Error(joined(errors))
  return configuration
}

function parsed(text: string): AuthorizationConfiguration {
  try {
    return parseConfiguration(text)
  } catch (error) {
    throw new Error(
      `failed to load AuthorizationConfiguration from file: ${error instanceof Error ? error.message : error}`,
    )
  }
}

const joined = (errors: readonly string[]): string => (errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
