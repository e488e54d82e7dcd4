import { z } from 'zod';

/**
 * The countries of ISO 3166-1, as alpha-2 and alpha-3, and Kosovo with the codes XK and XKX, which ISO leaves to users.
 */
const COUNTRIES =
  'AD:AND AE:ARE AF:AFG AG:ATG AI:AIA AL:ALB AM:ARM AO:AGO AQ:ATA AR:ARG AS:ASM AT:AUT AU:AUS AW:ABW AX:ALA AZ:AZE BA:BIH BB:BRB BD:BGD BE:BEL BF:BFA BG:BGR BH:BHR BI:BDI BJ:BEN BL:BLM BM:BMU BN:BRN BO:BOL BQ:BES BR:BRA BS:BHS BT:BTN BV:BVT BW:BWA BY:BLR BZ:BLZ CA:CAN CC:CCK CD:COD CF:CAF CG:COG CH:CHE CI:CIV CK:COK CL:CHL CM:CMR CN:CHN CO:COL CR:CRI CU:CUB CV:CPV CW:CUW CX:CXR CY:CYP CZ:CZE DE:DEU DJ:DJI DK:DNK DM:DMA DO:DOM DZ:DZA EC:ECU EE:EST EG:EGY EH:ESH ER:ERI ES:ESP ET:ETH FI:FIN FJ:FJI FK:FLK FM:FSM FO:FRO FR:FRA GA:GAB GB:GBR GD:GRD GE:GEO GF:GUF GG:GGY GH:GHA GI:GIB GL:GRL GM:GMB GN:GIN GP:GLP GQ:GNQ GR:GRC GS:SGS GT:GTM GU:GUM GW:GNB GY:GUY HK:HKG HM:HMD HN:HND HR:HRV HT:HTI HU:HUN ID:IDN IE:IRL IL:ISR IM:IMN IN:IND IO:IOT IQ:IRQ IR:IRN IS:ISL IT:ITA JE:JEY JM:JAM JO:JOR JP:JPN KE:KEN KG:KGZ KH:KHM KI:KIR KM:COM KN:KNA KP:PRK KR:KOR KW:KWT KY:CYM KZ:KAZ LA:LAO LB:LBN LC:LCA LI:LIE LK:LKA LR:LBR LS:LSO LT:LTU LU:LUX LV:LVA LY:LBY MA:MAR MC:MCO MD:MDA ME:MNE MF:MAF MG:MDG MH:MHL MK:MKD ML:MLI MM:MMR MN:MNG MO:MAC MP:MNP MQ:MTQ MR:MRT MS:MSR MT:MLT MU:MUS MV:MDV MW:MWI MX:MEX MY:MYS MZ:MOZ NA:NAM NC:NCL NE:NER NF:NFK NG:NGA NI:NIC NL:NLD NO:NOR NP:NPL NR:NRU NU:NIU NZ:NZL OM:OMN PA:PAN PE:PER PF:PYF PG:PNG PH:PHL PK:PAK PL:POL PM:SPM PN:PCN PR:PRI PS:PSE PT:PRT PW:PLW PY:PRY QA:QAT RE:REU RO:ROU RS:SRB RU:RUS RW:RWA SA:SAU SB:SLB SC:SYC SD:SDN SE:SWE SG:SGP SH:SHN SI:SVN SJ:SJM SK:SVK SL:SLE SM:SMR SN:SEN SO:SOM SR:SUR SS:SSD ST:STP SV:SLV SX:SXM SY:SYR SZ:SWZ TC:TCA TD:TCD TF:ATF TG:TGO TH:THA TJ:TJK TK:TKL TL:TLS TM:TKM TN:TUN TO:TON TR:TUR TT:TTO TV:TUV TW:TWN TZ:TZA UA:UKR UG:UGA UM:UMI US:USA UY:URY UZ:UZB VA:VAT VC:VCT VE:VEN VG:VGB VI:VIR VN:VNM VU:VUT WF:WLF WS:WSM XK:XKX YE:YEM YT:MYT ZA:ZAF ZM:ZMB ZW:ZWE';

/** The alpha-2 code of each country by its alpha-3 code. */
export const countriesByAlpha3: ReadonlyMap<string, string> = new Map(
  COUNTRIES.split(' ').map((pair): [string, string] => [pair.slice(3), pair.slice(0, 2)]),
);
/** The alpha-2 codes of all countries. */
export const countries: ReadonlySet<string> = new Set(countriesByAlpha3.values());

const REGION = /^[A-Z]{2}(?:-[A-Z0-9]{1,3})?$/;

/** Whether the text is the code of a country, with the code of a part of it (ISO 3166-2) after a hyphen or without. */
export function isPlateRegion(text: string): boolean {
  return REGION.test(text) && countries.has(text.slice(0, 2));
}

const REFUSAL =
  'Use the code of a country (ISO 3166-1 alpha-2) such as AT, and of its part (ISO 3166-2) after a hyphen, such as US-CA';

/** Where a plate is from. Codes in lower case are accepted; an unknown one is named in the refusal. */
export const plateRegion = z
  .string()
  .max(100, REFUSAL)
  .transform((code) => code.trim().toUpperCase())
  .superRefine((code, ctx) => {
    if (isPlateRegion(code)) return;
    ctx.addIssue({ code: 'custom', message: `There is no ${JSON.stringify(code.slice(0, 20))}. ${REFUSAL}` });
  });

/** Whether a plate is from the sought region: from any part of a country, if only that is sought. */
export function isOfRegion(region: string | undefined, sought: string): boolean {
  return region === sought || (region?.startsWith(`${sought}-`) ?? false);
}
