/** The extenders of the configuration: defaults, validation, and the files of their certificates. */
import { readFileSync } from 'node:fs'
import { isExtendedResource } from '../../api/core/quota/resource-list.ts'
import { parseDurationMs } from '../../lib/duration.ts'
import { reasonOf } from '../../lib/explained-error.ts'
import { type FieldError, fieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { follows } from '../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../machinery/validation/names.ts'
import type { ExtenderSettings } from '../extenders/settings.ts'
import type { WrittenExtender } from './shape.ts'

const defaultTimeoutMs = 5_000

export function extenderSettings(written: readonly WrittenExtender[], errors: FieldError[]): ExtenderSettings[] {
  const binding = written.filter(({ bindVerb }) => bindVerb)
  if (binding.length > 1)
    errors.push(
      invalidValue(
        'extenders',
        `found ${binding.length} extenders implementing bind`,
        'only one extender can implement bind',
      ),
    )
  const managed = new Set<string>()
  return written.map((extender, at) => {
    const path = `extenders[${at}]`
    const { urlPrefix = '', prioritizeVerb, weight = 0, httpTimeout, managedResources = [], tlsConfig } = extender
    if (!urlPrefix) errors.push(required(`${path}.urlPrefix`))
    else if (!URL.canParse(urlPrefix))
      errors.push(invalidValue(`${path}.urlPrefix`, urlPrefix, 'must be a URL such as http://127.0.0.1:8888/scheduler'))
    if (prioritizeVerb && weight <= 0)
      errors.push(invalidValue(`${path}.weight`, weight, 'must have a positive weight applied to it'))
    const timeoutMs = httpTimeout === undefined ? defaultTimeoutMs : parseDurationMs(httpTimeout)
    if (timeoutMs === undefined || timeoutMs < 0)
      errors.push(invalidValue(`${path}.httpTimeout`, httpTimeout, 'must be a duration such as 5s'))
    for (const [index, { name = '' }] of managedResources.entries()) {
      const namePath = `${path}.managedResources[${index}].name`
      const faults = [...follows(name, namePath, qualifiedName)]
      if (faults.length === 0 && !isExtendedResource(name))
        faults.push(invalidValue(namePath, name, 'is an invalid extended resource name'))
      errors.push(...faults)
      if (managed.has(name)) errors.push(invalidValue(namePath, name, 'duplicate extender managed resource name'))
      managed.add(name)
    }
    return {
      ...extender,
      urlPrefix,
      weight,
      timeoutMs: timeoutMs || defaultTimeoutMs,
      managedResources: managedResources.map(({ name = '', ignoredByScheduler }) => ({ name, ignoredByScheduler })),
      tls: tlsConfig && tlsOf(tlsConfig, `${path}.tlsConfig`, errors),
    }
  })
}

function tlsOf(
  written: NonNullable<WrittenExtender['tlsConfig']>,
  path: string,
  errors: FieldError[],
): NonNullable<ExtenderSettings['tls']> {
  const read = (name: 'ca' | 'cert' | 'key'): string | undefined => {
    const data = written[`${name}Data`]
    if (data) return Buffer.from(data, 'base64').toString()
    const file = written[`${name}File`]
    if (!file) return undefined
    try {
      return readFileSync(file, 'utf8')
    } catch (error) {
      errors.push(fieldError('FieldValueInvalid', `${path}.${name}File`, `cannot read ${file}: ${reasonOf(error)}`))
      return undefined
    }
  }
  return {
    ca: read('ca'),
    cert: read('cert'),
    key: read('key'),
    serverName: written.serverName,
    insecure: written.insecure,
  }
}
