/** Values for programs: JSON, or YAML as kubectl writes it. */

/** The text of a value that JSON can hold, with a line's end. */
export async function outputText(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value, undefined, 2)}\n`
  const { toYaml } = await import('../../../../machinery/yaml.ts')
  return toYaml(value)
}
