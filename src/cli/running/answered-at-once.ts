/** What programs with kube-apiserver's flags answer without starting anything. */

/** Answers --help and --version; gives the flags if there is more to do. Throws a FlagError. */
export async function answeredAtOnce(args: readonly string[], program = 't8s apiserver') {
  const { apiServerFlags, apiServerHelp } = await import('../../apiserver/serving-flags/index.ts')
  // Before anything is read, as upstream: a wrong flag behind it does not matter.
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
