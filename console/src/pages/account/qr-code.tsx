import { useQuery } from '@tanstack/react-query';

/** A QR code of the text. It is dark on light in both themes, because some phones cannot read inverted codes. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { data } = useQuery({
    queryKey: ['qr-code'],
    queryFn: async () => (await import('uqr')).encode,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data: rows, size } = data?.(text, { border: 4 }) ?? { data: [], size: 1 };
  const path = rows
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="aspect-square w-52 self-center "
    >
      <rect width={size} height={size} rx={1} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
