/** The name in `…/services/NAME/proxy`: `name`, `name:port` or `scheme:name:port`. */

export interface BackendName {
  readonly scheme: '' | 'http' | 'https'
  readonly name: string
  /** A number, the name of a port, or empty. */
  readonly port: string
}

/** Undefined for an invalid name. */
export function parseBackendName(text: string): BackendName | undefined {
  const parts = text.split(':')
  if (parts.length > 3) return undefined
  const [scheme, name, port] = parts.length === 3 ? parts : ['', ...parts]
  if (!name || (scheme !== '' && scheme !== 'http' && scheme !== 'https')) return undefined
  return { scheme, name, port: port ?? '' }
}
