/** The page at `/debug/pprof/`: lists the profiles and how to read them. */

const entries: readonly (readonly [name: string, text: string])[] = [
  ['allocs', 'memory allocated during <code>seconds</code> (10 by default), including what has been freed'],
  ['cmdline', 'the command line of this process'],
  [
    'heap',
    'memory allocated during <code>seconds</code> (10 by default) and still in use; <code>gc=1</code> ' +
      'collects garbage first',
  ],
  ['profile', 'CPU time of the main thread during <code>seconds</code> (30 by default)'],
]

export const indexPage = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>/debug/pprof/</title></head>
<body>
<h1>/debug/pprof/</h1>
<p>Profiles of this process. <code>go tool pprof</code> reads them; so do viewers for its format.</p>
<dl>
${entries.map(([name, text]) => `<dt><a href="${name}">${name}</a></dt><dd>${text}</dd>`).join('\n')}
</dl>
</body>
</html>
`
