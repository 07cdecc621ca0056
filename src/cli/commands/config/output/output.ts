/** Machine-readable output: JSON, or YAML as kubectl writes it. */

/** Formats a JSON value, with a final newline. */
export async function outputText(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value, undefined, 2)}\n`
  const { toYaml } = await import('../../../../machinery/yaml.ts')
  return toYaml(value)
}
