/** The programs of iptables: its two variants, their versions, and the ways to call them. */

/**
 * Runs a program without a shell; resolves with its output.
 * @throws with the error output of a program that fails; the message begins with the program's name.
 */
export type RunProgram = (program: string, args: readonly string[], input?: string) => Promise<string>

export type Table = 'filter' | 'nat' | 'mangle'

/** `nft` writes rules of nftables, `legacy` those of the older tables of the kernel. `auto`: as other programs do. */
export type IptablesVariant = 'nft' | 'legacy'

const variants = ['nft', 'legacy'] as const satisfies readonly IptablesVariant[]

/** They wait up to 5 s for the lock of other programs. */
const waiting = ['-w', '5', '-W', '100000']

/** The kubelet leaves one of these in the variant that it uses. */
const hints = /^:(?:KUBE-IPTABLES-HINT|KUBE-KUBELET-CANARY) /m

const rulesOfOthers = /^-A /gm

/** One variant of iptables for one family. */
export interface IptablesPrograms {
  readonly variant: IptablesVariant
  /** Knows `MASQUERADE --random-fully`: 1.6.2 or newer. */
  readonly hasRandomFully: boolean
  /** All tables, as `iptables-save` prints them. */
  save(): Promise<string>
  /** Carries out a whole input, or nothing of a table. @throws with the line that the program rejects */
  restore(text: string): Promise<void>
  /** True if the chain exists. */
  hasChain(table: string, chain: string): Promise<boolean>
}

/**
 * The wanted variant. Without one, the variant in which the kubelet left a mark or other programs have more rules, as
 * the iptables wrappers of Kubernetes' images choose it; without rules, nft.
 * @throws if no program is installed, with what to install
 */
export async function findIptables(
  run: RunProgram,
  family: 4 | 6,
  wanted?: IptablesVariant,
): Promise<IptablesPrograms> {
  const installed = await installedVariants(run, family)
  const found =
    installed.find(({ variant }) => variant === wanted) ?? (wanted ? undefined : await usedVariant(installed))
  if (found) return found
  const name = `${programOf(family)}${wanted ? `-${wanted}` : ''}`
  throw new Error(`${name} is not installed, which rules of iptables need: apt-get install iptables`)
}

/** All installed variants, for a clean-up. */
export async function installedVariants(run: RunProgram, family: 4 | 6): Promise<IptablesPrograms[]> {
  const found = await Promise.all(variants.map((variant) => variantPrograms(run, family, variant)))
  const several = found.filter((programs) => programs !== undefined)
  if (several.length > 0) return several
  // Distributions with one variant have names without it.
  const version = await versionOf(run, programOf(family))
  if (version === undefined) return []
  return [programsOf(run, programOf(family), /nf_tables/.test(version) ? 'nft' : 'legacy', version)]
}

async function variantPrograms(
  run: RunProgram,
  family: 4 | 6,
  variant: IptablesVariant,
): Promise<IptablesPrograms | undefined> {
  const prefix = `${programOf(family)}-${variant}`
  const version = await versionOf(run, prefix)
  return version === undefined ? undefined : programsOf(run, prefix, variant, version)
}

/** `prefix` is the name to which `-save` and `-restore` are appended. */
function programsOf(run: RunProgram, prefix: string, variant: IptablesVariant, version: string): IptablesPrograms {
  return {
    variant,
    hasRandomFully: isAtLeast(version, [1, 6, 2]),
    save: () => run(`${prefix}-save`, []),
    async restore(text) {
      await run(`${prefix}-restore`, [...waiting, '--noflush', '--counters'], text)
    },
    hasChain: (table, chain) =>
      run(prefix, [...waiting, '-t', table, '-S', chain]).then(
        () => true,
        (error: Error) => {
          if (isMissing(error)) return false
          throw error
        },
      ),
  }
}

async function usedVariant(installed: readonly IptablesPrograms[]): Promise<IptablesPrograms | undefined> {
  if (installed.length < 2) return installed[0]
  const rules = await Promise.all(installed.map((programs) => programs.save().catch(() => '')))
  const hinted = installed.find((_, index) => hints.test(rules[index]!))
  if (hinted) return hinted
  const counts = rules.map((text) => text.match(rulesOfOthers)?.length ?? 0)
  return installed[counts.indexOf(Math.max(...counts))]
}

const versionOf = (run: RunProgram, program: string): Promise<string | undefined> =>
  run(program, ['--version']).catch(() => undefined)

function isAtLeast(version: string, wanted: readonly [number, number, number]): boolean {
  const found = /v(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number)
  if (!found) return false
  const different = wanted.findIndex((part, index) => part !== found[index])
  return different < 0 || found[different]! > wanted[different]!
}

const isMissing = (error: Error): boolean => /No chain\/target\/match|does not exist|incompatible/.test(error.message)

const programOf = (family: 4 | 6): string => (family === 4 ? 'iptables' : 'ip6tables')
