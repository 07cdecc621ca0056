# Servers of pods in tests, each an argument: http:PORT, udp:PORT, text:PORT:TEXT, json:PORT:TEXT. Perl without modules,
# so that an image needs the interpreter alone: 10 is AF_INET6, 1 a stream, 2 datagrams.
$SIG{CHLD} = 'IGNORE';
$SIG{TERM} = sub { exit 0 };
chomp($name = `hostname`);

# Serves both families: 41 and 26 are IPPROTO_IPV6 and IPV6_V6ONLY.
sub bound {
  my ($type, $port) = @_;
  socket(my $socket, 10, $type, 0) or die "socket: $!";
  setsockopt($socket, 1, 2, pack('i', 1));
  setsockopt($socket, 41, 26, pack('i', 0));
  bind($socket, pack('SnNa16N', 10, $port, 0, "\0" x 16, 0)) or die "port $port: $!";
  return $socket;
}

sub body {
  my ($kind, $text, $method, $path) = @_;
  return $name if $path =~ m{^/hostname$}i;
  return qq({"Method":"$method","Body":"$text"}) if $kind eq 'json';
  return $kind eq 'text' ? $text : $name;
}

sub answer {
  my ($client, $kind, $text) = @_;
  alarm 10;
  my $head = '';
  while ($head !~ /\r?\n\r?\n/) { sysread($client, $head, 4096, length $head) or return }
  my ($method, $path) = $head =~ /^(\S+) ([^ ?]*)/;
  my $body = body($kind, $text, $method, $path);
  my $type = $body =~ /^</ ? 'text/html' : 'text/plain';
  my $length = length $body;
  $body = '' if $method eq 'HEAD';
  syswrite($client, "HTTP/1.1 200 OK\r\nContent-Type: $type\r\nContent-Length: $length\r\nConnection: close\r\n\r\n$body");
}

sub serve {
  my ($kind, $port, $text) = @_;
  my $socket = bound($kind eq 'udp' ? 2 : 1, $port);
  if ($kind eq 'udp') {
    while (1) { my $from = recv($socket, my $query, 64, 0); send($socket, $name, 0, $from) if defined $from }
  }
  listen($socket, 128) or die "listen: $!";
  while (1) {
    accept(my $client, $socket) or next;
    unless (fork) { answer($client, $kind, $text); exit 0 }
    close $client;
  }
}

for my $argument (@ARGV) {
  my ($kind, $port, $text) = split(/:/, $argument, 3);
  unless (fork) { $SIG{TERM} = 'DEFAULT'; serve($kind, $port, $text); exit 1 }
}
sleep 1 while 1;
