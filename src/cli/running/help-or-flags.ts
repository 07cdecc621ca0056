/** Handles --help and --version of programs with kube-apiserver's flags. */

/** Prints the help or the version and returns 'answered', else returns the parsed flags. Throws a FlagError. */
export async function helpOrFlags(args: readonly string[], program = 't8s apiserver') {
  const { apiServerFlags, apiServerHelp } = await import('../../apiserver/serving-flags/index.ts')
  // As upstream, --help is answered before flags are parsed, so that wrong flags do not matter.
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(apiServerHelp(program))
    return 'answered'
  }
  const flags = apiServerFlags(args)
  if (flags.text('version') === undefined || flags.text('version') === 'false') return flags
  const [{ versionInfo }, { release }] = await Promise.all([
    import('../../apiserver/version/version.ts'),
    import('../../lib/release.ts'),
  ])
  process.stdout.write(`Kubernetes ${versionInfo(release).gitVersion}\n`)
  return 'answered'
}
