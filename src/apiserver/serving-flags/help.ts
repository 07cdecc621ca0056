/** The `--help` of a program with kube-apiserver's flags in upstream's layout: a section per topic, a line per flag. */
import type { Flag, FlagSet, FlagType } from './flag.ts'

const typeNames: Readonly<Record<FlagType, string>> = {
  bool: '',
  version: 'version[=true]',
  string: 'string',
  strings: 'strings',
  stringArray: 'stringArray',
  int: 'int',
  float: 'float',
  duration: 'duration',
  ip: 'ip',
  stringToString: "<comma-separated 'key=value' pairs>",
  mapStringString: 'mapStringString',
  featureGates: 'colonSeparatedMultimapStringString',
  namedCertKey: 'namedCertKey',
  portRange: "<a string in the form 'N1-N2'>",
}

/** The text of `--help`, without the last line break. */
export function flagsHelp(usage: string, sets: readonly FlagSet[]): string {
  const names = sets.flatMap(({ flags }) => flags.map(nameColumn))
  // The help of a long name is on the next line.
  const width = Math.max(...names.filter((name) => name.length < 60).map((name) => name.length))
  const line = (flag: Flag): string => {
    const name = nameColumn(flag)
    return `${name.length > width ? `${name}\n${' '.repeat(width)}` : name.padEnd(width)}   ${sentence(flag)}`
  }
  const section = ({ name, flags }: FlagSet): string =>
    `${name.charAt(0).toUpperCase()}${name.slice(1)} flags:\n\n${[...flags].sort(byName).map(line).join('\n')}\n`
  return `${usage}\n\n${sets.map(section).join('\n')}`
}

const byName = (a: Flag, b: Flag): number => (a.name < b.name ? -1 : 1)

const nameColumn = ({ name, short, type }: Flag): string =>
  `  ${short ? `-${short}, ` : '    '}--${name} ${typeNames[type]}`.trimEnd()

const quotedTypes: readonly FlagType[] = ['string']

function sentence({ help, usual, type, idle }: Flag): string {
  const shown =
    usual &&
    ` (default ${quotedTypes.includes(type) ? JSON.stringify(usual) : type === 'strings' ? `[${usual}]` : usual})`
  return (
    `${help.charAt(0).toUpperCase()}${help.slice(1)}.${shown ?? ''}` +
    `${idle ? ` Changes nothing here: ${idle}.` : ''}`
  )
}
